"""The answer is right and comes too late: the tool runs at once, the reply is held back."""

from __future__ import annotations

from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env

LIMIT = 30.0


async def late(call: Call, tool: Tool, env: Env, *, times: float = 2.0) -> Ok | Err:
    """The agent gets the true result after `times` the tool's time limit, if it is still waiting.

    What the call changes has changed by then, also for a caller that gave up on it.
    """
    result = await tool(call)
    seconds = times * (env.spec.limit if env.spec else LIMIT)
    env.fire(seconds=seconds)
    await env.sleep(seconds)
    return result
