"""The caller cancels the agent's run while a call is open: it pressed stop, or its own time was over."""

from __future__ import annotations

from typing import Literal

from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env

When = Literal["running", "late"]


async def cancel(call: Call, tool: Tool, env: Env, *, when: When, seconds: float = 2.0) -> Ok | Err:
    """`running`: half of `seconds` into the tool's work, which is done at their end - unless the cancel has
    reached the call. `late`: the tool has done its work, and its answer is on the way.

    A run that is over, or that nobody can cancel, is left alone.
    """
    if when == "late":
        result = await tool(call)
        if env.cancel():
            env.fire(when=when)
            await env.sleep(seconds)
        return result
    await env.sleep(seconds / 2)
    if env.cancel():
        env.fire(when=when)
    await env.sleep(seconds / 2)
    return await tool(call)
