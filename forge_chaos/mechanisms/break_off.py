"""The connection is lost while the model replies."""

from __future__ import annotations

from typing import Literal

from forge_chaos.mechanisms._completion import calls_of, choice_of, put, saying
from forge_chaos.modelserver.errors import BrokenOff
from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env


async def break_off(
    call: Call, tool: Tool, env: Env, *, after: Literal["text", "arguments", "call"] = "text"
) -> Ok | Err:
    """Who streams gets the events up to there, and then the stream just ends: in the midst of the text, inside
    the arguments of the last call, or after that call, without a word of the reply's end. Who does not gets no
    answer. A reply that has no such place goes on as it is."""
    result = await tool(call)
    choice, calls = choice_of(result), calls_of(result)
    if choice is None or (after != "text" and not calls):
        return result
    if after == "text":
        text = choice["message"].get("content")
        if not isinstance(text, str) or len(text) < 2:
            return result
        came = saying(result, {"content": text[: len(text) // 2], "tool_calls": None})
    elif after == "arguments":
        place = len(calls) - 1
        text = str(calls[place]["function"].get("arguments") or "{}")
        half = text[: max(1, len(text) // 2)]
        came = saying(result, {"tool_calls": put(calls, place, f"call_{call.id}_{place}", arguments=half)})
    else:
        came = saying(result, {})
    env.fire(after=after)
    lost = BrokenOff("the connection was closed before the reply was complete", came)
    return Err("connection", str(lost), lost)
