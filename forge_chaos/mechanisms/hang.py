"""The call never answers: only the caller's own time limit can end it."""

from __future__ import annotations

import asyncio

from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env


async def hang(call: Call, tool: Tool, env: Env) -> Ok | Err:
    """The agent waits; the tool is not run. An agent without a time limit hangs, which is detected:
    nothing is left that could wake it."""
    env.fire()
    never: asyncio.Future[Ok | Err] = asyncio.get_running_loop().create_future()
    return await never
