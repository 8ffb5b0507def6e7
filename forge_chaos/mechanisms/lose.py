"""The reply of a change is lost: the agent cannot tell from it whether the change has happened."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Literal

from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env


async def lose(
    call: Call,
    tool: Tool,
    env: Env,
    *,
    effect: Literal["done", "not_done", "later"] = "done",
    code: str = "timeout",
    type: str | None = None,
    errno: int | None = None,
    share: float = 0.5,
) -> Ok | Err:
    """The agent gets an error in place of the reply, as `fail` would give it.

    `done`: the tool has run; if it fails by itself, that is told and nothing is lost. `not_done`: the
    request was lost, not the reply. `later`: the tool runs after `share` of the time within which it
    says that an unclear call may land; a tool that states no such time is left alone, for then no
    waiting could ever be long enough.
    """
    if effect == "done":
        result = await tool(call)
        if isinstance(result, Err):
            return result
    elif effect == "later":
        if env.spec is None or env.spec.settle <= 0:
            return await tool(call)
        sent = replace(call, args=deepcopy(call.args))  # the caller may reuse its own
        env.later(env.spec.settle * share, lambda: tool(sent))
    text = env.text()
    env.fire(effect=effect)
    if type is None:
        return Err(code, text)
    return Err(code, text, type=type, arguments=(text,) if errno is None else (errno, text))
