"""The shell behind the tool times out and is replaced by a new one, which stands in the workspace again."""

from __future__ import annotations

from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env

LIMIT = 30.0
BEFORE = 0.95  # the tool gives up just before a caller who allows it exactly its limit


async def restart(call: Call, tool: Tool, env: Env) -> Ok | Err:
    """The agent gets a timeout; the command is not run, and those that follow are run in the root.

    Whether it is told of the new shell stands in the text. A shell that stands in the root already, and a
    world that has none, are left alone.
    """
    if env.world is None or not env.world.workspace.leave():
        return await tool(call)
    env.fire()
    await env.sleep(BEFORE * (env.spec.limit if env.spec else LIMIT))
    return Err("timeout", env.text())
