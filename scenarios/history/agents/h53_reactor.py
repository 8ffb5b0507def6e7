"""A `ReActAgent` of llama-index over a model of chat form: calls and results are told to the agent in words."""

import ast
import json
from typing import Any

from llama_index.core.agent.workflow import ReActAgent
from llama_index.core.llms import ChatMessage, ChatResponse, CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.tools import FunctionTool

ACTION, INPUT, OBSERVED = "\nAction: ", "\nAction Input: ", "Observation: "


class InWords(CustomLLM):
    """Asks `model` in chat form what it is asked in words."""

    model: Any
    tools: list[dict[str, Any]]

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="scripted")

    async def achat(self, messages, **options):
        told = await self.model.complete(list(in_chat_form(messages)), self.tools)
        return ChatResponse(message=ChatMessage(role="assistant", content=in_words(told)))

    def complete(self, prompt, formatted=False, **options) -> CompletionResponse:
        raise NotImplementedError("it is asked as a chat, and awaited")

    stream_complete = complete


def in_words(told):
    if not told.get("tool_calls"):
        return f"Thought: I can answer.\nAnswer: {told['content']}" if told.get("content") else ""
    function = told["tool_calls"][0]["function"]
    return f"Thought: I need a tool.{ACTION}{function['name']}{INPUT}{function['arguments']}"


def in_chat_form(messages):
    asked = 0
    for message in messages:
        text, role = message.content or "", message.role.value
        if role == "assistant" and ACTION in text:
            asked += 1
            name, _, given = text.partition(ACTION)[2].partition(INPUT)
            function = {"name": name.strip(), "arguments": json.dumps(ast.literal_eval(given))}
            call = {"id": f"call_{asked}", "type": "function", "function": function}
            yield {"role": role, "content": None, "tool_calls": [call]}
        elif role == "user" and text.startswith(OBSERVED):
            yield {"role": "tool", "tool_call_id": f"call_{asked}", "content": text.removeprefix(OBSERVED)}
        else:
            yield {"role": role, "content": text}


async def agent(task, tools, model):
    async def read_file(path: str) -> str:
        """Read a text file."""
        return await tools.call("read_file", {"path": path})

    async def write_file(path: str, text: str) -> str:
        """Write a text file, replacing what was there."""
        return await tools.call("write_file", {"path": path, "text": text})

    async def list_files(path: str = ".") -> str:
        """List a folder."""
        return await tools.call("list_files", {"path": path})

    made = ReActAgent(
        tools=[FunctionTool.from_defaults(async_fn=each) for each in (read_file, write_file, list_files)],
        llm=InWords(model=model, tools=tools.specs),
        streaming=False,
    )
    return str(await made.run(user_msg=task.prompt, max_iterations=task.max_steps))
