"""The answer comes from a cache: what the same call was told before, though it is true no more."""

from __future__ import annotations

from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env


async def recall(call: Call, tool: Tool, env: Env) -> Ok | Err:
    """The agent gets the oldest good answer that an equal call had in this trial; the tool runs all the
    same. Where there is none, or it is still true, the answer is left alone."""
    old = next((result for result in env.earlier if isinstance(result, Ok)), None)
    result = await tool(call)
    if old is None or result == old:
        return result
    env.fire()
    return old
