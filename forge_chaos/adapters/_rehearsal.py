"""A framework loads much of itself only when it first runs, which can take longer than a watchdog waits for a sign
of life. So its stock loop is played once, before any trial, and nobody looks at how that goes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any

from forge_chaos.modelserver.server import ScriptedModel
from forge_chaos.nouns import Call, Err, Ok, Result, Scenario, Task, Tool, ToolSpec
from forge_chaos.ports import Agent

LONGEST = 300.0  # seconds; what takes longer is left behind
PROMPT = "Look once, then say DONE."
LOOK = ToolSpec("look", "Look at something.", {"type": "object", "properties": {}}, frozenset(("read",)))


class Model:
    """A model seat that asks for one call and then says DONE."""

    taken = True
    name = "scripted"

    def __init__(self) -> None:
        self._scripted = ScriptedModel(Scenario("rehearsal", PROMPT, solve=_solve), "expert", {"look": LOOK})

    async def door(self, path: str, body: bytes) -> tuple[int, bytes]:
        response = self._scripted(path, body)
        return response.status, response.body


@cache
def rehearsed(agent: Agent) -> None:
    """Play a stock loop once in this process, whatever comes of it."""

    def play() -> None:
        with suppress(BaseException):  # the trials will tell
            asyncio.run(_play(agent))

    thread = threading.Thread(target=play, daemon=True, name="forge-chaos-rehearsal")
    thread.start()
    thread.join(LONGEST)


async def _play(agent: Agent) -> None:
    await agent(Task(PROMPT, 5, "rehearsal"), {"look": LOOK}, {"look": _look}, _through, Model())


async def _solve(task: Any, tools: Any) -> str:
    await tools.look(expect=str)
    return "DONE"


async def _look(call: Call) -> Ok | Err:
    return Ok("nothing")


async def _through(
    name: str,
    args: Mapping[str, Any],
    tool: Tool,
    order: tuple[int, int] | None = None,
    id: str | None = None,
    by: str = "",
) -> Result:
    return await tool(Call(1, name, dict(args), None, order, by))


__all__ = ["rehearsed"]
