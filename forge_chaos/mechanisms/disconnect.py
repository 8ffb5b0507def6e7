"""The session behind the tools is gone: for a while, until it is opened again, or for good."""

from __future__ import annotations

import asyncio
from typing import Literal

from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env


async def disconnect(
    call: Call,
    tool: Tool,
    env: Env,
    *,
    calls: int | None = None,
    hangs: int = 0,
    reopened_by: str = "",
    of: Literal["tool", "world"] = "tool",
    code: str = "pipe",
    type: str | None = None,
    errno: int | None = None,
) -> Ok | Err:
    """The agent gets an error; the tool is not run.

    `calls`: so many calls that the rule hits fail, then somebody has opened the connection again; None:
    nobody does. `hangs`: so many of them are never answered, as when the other side dies during the
    call and nobody notices. `reopened_by`: the tool that opens it, if it runs after the loss. `of`: what is lost -
    the `tool`, or the `world`: then every call of any tool is told the same error, for good or until the
    rule's `heal`.
    """
    text = env.text()
    error = (
        Err(code, text)
        if type is None
        else Err(code, text, type=type, arguments=(text,) if errno is None else (errno, text))
    )
    kept = env.kept
    kept.setdefault("lost_at", env.ran(reopened_by) if reopened_by else 0)
    failed = kept.get("failed", 0)
    reopened = bool(reopened_by) and env.ran(reopened_by) > kept["lost_at"]
    if reopened or (calls is not None and failed >= calls):
        return await tool(call)
    kept["failed"] = failed + 1
    env.fire(of=of)
    if failed < hangs:
        await asyncio.get_running_loop().create_future()
    if of == "world":
        env.down(error)
        if env.heal is not None:
            env.later(env.heal, lambda: env.down(None))
    return error
