"""The path is not there: the call fails, and while the rule holds no other tool finds it either."""

from __future__ import annotations

from contextlib import suppress
from errno import EISDIR, ENOENT, ENOTDIR
from itertools import count
from posixpath import dirname, splitext
from typing import Literal

from forge_chaos.mechanisms._below import below
from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env, Workspace

NUMBER = {"ENOENT": ENOENT, "ENOTDIR": ENOTDIR, "EISDIR": EISDIR}
CODE = {"ENOENT": "not_found", "ENOTDIR": "not_directory", "EISDIR": "is_directory"}


async def absent(
    call: Call,
    tool: Tool,
    env: Env,
    *,
    errno: Literal["ENOENT", "ENOTDIR", "EISDIR"] = "ENOENT",
    how: Literal["hidden", "renamed", "directory"] = "hidden",
    of: Literal["path", "parent"] = "path",
    appears: float | None = None,
) -> Ok | Err:
    """The agent gets the operating system's error for its path; the tool is not run.

    In a workspace the path, or the folder that it lies `of`, is hidden, or is an empty directory, from
    this call until the rule's last one, its `heal`, or for `appears` seconds. `renamed` moves it to a
    near name beside it, and nobody moves it back, unless the rule heals. A target that the workspace
    does not have (own tools) just fails; the workspace itself is never missing. In a fake workspace the
    tool is run, and does not find what has been taken away.
    """
    if call.target == ".":
        return await tool(call)
    text = env.text() if call.target else ""
    back = env.last and appears is None and how != "renamed"
    from_below = below(call, env, NUMBER[errno])
    if from_below is not None:
        gone = _changed(call.target, env, how, of, appears, back=False)
        if gone or "gone" in env.kept:
            env.kept["gone"] = True
            env.fire(changed=gone, how=how)
            try:
                return await tool(call)
            finally:
                if back:
                    from_below.show(call.target if of == "path" else dirname(call.target or ""))
    env.fire(changed=_changed(call.target, env, how, of, appears, back), how=how)
    return Err(CODE[errno], text)


def _changed(target: str | None, env: Env, how: str, of: str, appears: float | None, back: bool) -> list[str]:
    """Take the path away, or give it back after the last hit. The files that this changed."""
    workspace = env.world.workspace if env.world is not None else None
    path = target if of == "path" or target is None else dirname(target)
    if workspace is None or not path:
        return []
    if back:
        with suppress(OSError, ValueError):  # a target that is no path of this workspace
            workspace.show(path)
        return []
    below = _below(workspace, path)
    if not below:
        return []
    until = env.heal if appears is None else appears
    if how == "renamed":
        near = _near(workspace, path)
        with workspace.other_hand():
            workspace.move(path, near)
        if until is not None:
            env.later(until, lambda: _move_back(workspace, near, path))
        return below + _below(workspace, near)
    if how == "directory":
        workspace.cover(path)
    else:
        workspace.hide(path)
    if until is not None:
        env.later(until, lambda: workspace.show(path))
    return below


def _below(workspace: Workspace, path: str) -> list[str]:
    """The file itself, or every file in that folder; [] when there is none, hidden ones left out."""
    return [name for name in workspace.paths() if name == path or name.startswith(path + "/")]


def _near(workspace: Workspace, path: str) -> str:
    stem, suffix = splitext(path)
    return next(near for n in count(2) if not _below(workspace, near := f"{stem}_v{n}{suffix}"))


def _move_back(workspace: Workspace, near: str, path: str) -> None:
    if _below(workspace, near) and not _below(workspace, path):
        with workspace.other_hand():
            workspace.move(near, path)
