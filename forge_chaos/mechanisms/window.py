"""The caller asks that only the newest part of a session be shown to the model, to save what it costs."""

from __future__ import annotations

from dataclasses import replace

from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env


async def window(call: Call, tool: Tool, env: Env, *, newest: int = 2) -> Ok | Err:
    """In this turn no more than the `newest` items of the session so far are to be shown. Where that falls
    between a call and its result, it is the agent's to keep them together. A first message has nothing behind it.
    """
    if call.id == 1:
        return await tool(call)
    env.fire(newest=newest)
    return await tool(replace(call, args={**call.args, "window": newest}))
