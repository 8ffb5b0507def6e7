"""The disk is full: nothing can be written until somebody makes room."""

from __future__ import annotations

import errno

from forge_chaos.mechanisms._below import below
from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env, Workspace


async def exhaust(call: Call, tool: Tool, env: Env, *, empties: bool = False) -> Ok | Err:
    """The agent gets ENOSPC; the tool is not run.

    From this call until the rule's last one or its `heal`, the workspace holds no more than it does now,
    by whatever tool; once something has been deleted or cut short, the rule is over and calls go
    through. `empties`: the file was opened for writing before the disk said no, so it is there and empty.
    On a fake disk the tool is run, and meets the full disk when it writes.
    """
    workspace = env.world.workspace if env.world is not None else None
    kept = env.kept
    if workspace is not None and (kept.get("freed") or _used(workspace) < kept.get("used", 0)):
        kept["freed"] = True
        workspace.drain()
        return await tool(call)
    from_below = below(call, env, errno.ENOSPC)
    if from_below is not None:
        with from_below.no_room() as tried:
            result = await tool(call)
        if not tried():  # it has written nothing that needed room
            return result
        env.fire()
        _hold(from_below, env)
        return result
    emptied = [call.target] if empties and workspace is not None and _emptied(workspace, call.target) else []
    text = env.text()
    env.fire(changed=[path for path in emptied if path])
    if workspace is not None:
        _hold(workspace, env)
    return Err("no_space", text)


def _hold(workspace: Workspace, env: Env) -> None:
    """Full until the rule's last hit."""
    if env.last:
        workspace.drain()
    elif "used" not in env.kept:
        workspace.fill()
        env.kept["used"] = _used(workspace)
        if env.heal is not None:
            env.later(env.heal, workspace.drain)


def _used(workspace: Workspace) -> int:
    return sum(workspace.stat(path)["size"] for path in workspace.paths())


def _emptied(workspace: Workspace, path: str | None) -> bool:
    try:
        with workspace.other_hand():
            workspace.write(path or "", b"")
    except (OSError, ValueError):  # a target that is no file of this workspace
        return False
    return True
