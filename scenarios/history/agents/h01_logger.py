"""A pydantic-ai agent with a limit of tool calls, over a model that is asked in chat form."""

import asyncio

from pydantic_ai import Agent, UsageLimitExceeded, UsageLimits
from pydantic_ai.messages import (
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import FunctionModel


def in_chat_form(messages):
    for message in messages:
        if isinstance(message, ModelResponse):
            yield said(message)
            continue
        for part in message.parts:
            if isinstance(part, (ToolReturnPart, RetryPromptPart)) and part.tool_name:
                returned = isinstance(part, ToolReturnPart)
                text = part.model_response_str() if returned else part.model_response()
                yield {"role": "tool", "tool_call_id": part.tool_call_id, "content": text}
            elif isinstance(part, SystemPromptPart):
                yield {"role": "system", "content": part.content}
            elif isinstance(part, UserPromptPart):
                yield {"role": "user", "content": part.content}
            else:
                yield {"role": "user", "content": part.model_response()}


def said(message):
    text = "".join(part.content for part in message.parts if isinstance(part, TextPart))
    calls = [
        {
            "id": part.tool_call_id,
            "type": "function",
            "function": {"name": part.tool_name, "arguments": part.args_as_json_str()},
        }
        for part in message.parts
        if isinstance(part, ToolCallPart)
    ]
    told = {"role": "assistant", "content": text or None}
    return {**told, "tool_calls": calls} if calls else told


def as_response(reply):
    parts = [TextPart(reply["content"])] if reply.get("content") else []
    for call in reply.get("tool_calls") or ():
        function = call["function"]
        parts.append(ToolCallPart(function["name"], function["arguments"], call["id"]))
    return ModelResponse(parts=parts)


async def agent(task, tools, model):
    async def ask(messages, info):
        return as_response(await model.complete(list(in_chat_form(messages)), tools.specs))

    logger = Agent(FunctionModel(ask))

    @logger.tool_plain
    async def append_file(path: str, text: str) -> str:
        """Add text to the end of a file."""
        await asyncio.sleep(0.1)  # the log is kept on another machine
        return await tools.call("append_file", {"path": path, "text": text})

    @logger.tool_plain
    async def read_file(path: str) -> str:
        """Read a text file."""
        return await tools.call("read_file", {"path": path})

    try:
        done = await logger.run(task.prompt, usage_limits=UsageLimits(tool_calls_limit=task.max_steps))
    except UsageLimitExceeded as limit:
        return f"FAILED: {limit}"
    return done.output
