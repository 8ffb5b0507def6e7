"""An openai-agents agent with a check that may end the run and a shell, over a model that is asked in chat form."""

import asyncio
import json

from agents import Agent, RunConfig, Runner, ShellTool, UserError, function_tool
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

SHELL = "run_command"


class InChatForm(Model):
    """Asks `model` in chat form; its calls of the shell are those of the framework's own shell tool."""

    def __init__(self, model, tools):
        self.model, self.tools = model, tools

    async def get_response(self, system_instructions, input, *settings, **more):
        items = [{"role": "user", "content": input}] if isinstance(input, str) else input
        reply = await self.model.complete(list(in_chat_form(items)), self.tools)
        return ModelResponse(output=list(as_items(reply)), usage=Usage(), response_id=None)

    def stream_response(self, *settings, **more):
        raise NotImplementedError("it is asked as a whole, and awaited")


def as_items(reply):
    if reply.get("content"):
        text = ResponseOutputText(text=reply["content"], type="output_text", annotations=[])
        yield ResponseOutputMessage(
            id="msg", role="assistant", status="completed", type="message", content=[text]
        )
    for call in reply.get("tool_calls") or ():
        id, name, given = call["id"], call["function"]["name"], call["function"]["arguments"]
        if name == SHELL:
            action = {"type": "exec", "commands": [json.loads(given)["command"]], "timeout_ms": 10_000}
            yield {
                "type": "shell_call",
                "id": f"sh_{id}",
                "call_id": id,
                "status": "completed",
                "action": action,
            }
        else:
            yield ResponseFunctionToolCall(
                type="function_call",
                id=f"fc_{id}",
                call_id=id,
                name=name,
                arguments=given,
                status="completed",
            )


def in_chat_form(items):
    """The calls of a turn are one message."""
    calls = []
    for item in items:
        kind = item.get("type")
        if kind == "function_call":
            calls.append((item["call_id"], item["name"], item["arguments"]))
            continue
        if kind == "shell_call":
            command = {"command": item["action"]["commands"][0]}
            calls.append((item["call_id"], SHELL, json.dumps(command)))
            continue
        if calls:
            yield {"role": "assistant", "content": None, "tool_calls": list(map(called, calls))}
            calls = []
        if kind in ("function_call_output", "shell_call_output"):
            output = item["output"]
            text = output if isinstance(output, str) else output[0]["stdout"]
            yield {"role": "tool", "tool_call_id": item["call_id"], "content": text}
        elif isinstance(item["content"], str):
            yield {"role": item["role"], "content": item["content"]}
        else:
            yield {"role": item["role"], "content": "".join(part["text"] for part in item["content"])}


def called(call):
    id, name, arguments = call
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


async def agent(task, tools, model):
    async def read_file(path: str) -> str:
        return await tools.call("read_file", {"path": path})

    async def run(request):
        await asyncio.sleep(0.3)  # until a shell is there
        return await tools.call(SHELL, {"command": request.data.action.commands[0]})

    check = function_tool(read_file, failure_error_function=None)  # without its file there is nothing to do
    publisher = Agent(
        name="Publisher", tools=[check, ShellTool(executor=run)], model=InChatForm(model, tools.specs)
    )
    config = RunConfig(tracing_disabled=True)
    try:
        done = await Runner.run(publisher, task.prompt, max_turns=task.max_steps, run_config=config)
    except UserError as failed:
        return f"FAILED: {failed}"
    return done.final_output
