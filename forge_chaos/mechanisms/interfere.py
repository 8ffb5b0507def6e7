"""Another hand changes the file, right after the agent has read it."""

from __future__ import annotations

from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env


async def interfere(call: Call, tool: Tool, env: Env, *, line: str = "added by another hand") -> Ok | Err:
    """The agent gets the true answer; then another hand puts one line more into the file.

    The new line - `line` and a number - stands in front of the last one, so that a first line and a
    last line that mean something stay what they are. What fails, and what is no text file of at least
    two lines, is left alone.
    """
    result = await tool(call)
    workspace, path = env.world.workspace if env.world is not None else None, call.target
    if isinstance(result, Err) or workspace is None or not path:
        return result
    try:
        lines = workspace.read(path).decode().splitlines(keepends=True)
    except (OSError, ValueError):
        return result
    if len(lines) < 2:
        return result
    added = f"{line} {env.rng.randint(1000, 9999)}"
    with workspace.other_hand():
        workspace.write(path, "".join([*lines[:-1], f"{added}\n", lines[-1]]).encode())
    env.fire(changed=[path], line=added)
    return result
