"""The reply comes with nothing in it."""

from __future__ import annotations

from typing import Literal

from forge_chaos.mechanisms._completion import choice_of, saying
from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env


async def hollow(
    call: Call, tool: Tool, env: Env, *, of: Literal["choices", "text", "content"] = "text"
) -> Ok | Err:
    """`choices`: the reply holds no message at all. `text`: its message is an empty text, without a call.
    `content`: it has no content, not even an empty one."""
    result = await tool(call)
    choice = choice_of(result)
    if choice is None or isinstance(result, Err):
        return result
    env.fire(of=of)
    if of == "choices":
        return Ok({**result.value, "choices": []})
    kept = {key: value for key, value in choice["message"].items() if key != "tool_calls"}
    bare = {**result.value, "choices": [{**choice, "message": kept}]}
    return Ok(saying(Ok(bare), {"content": "" if of == "text" else None}, "stop"))
