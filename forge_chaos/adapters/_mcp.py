"""Tools behind the Model Context Protocol, for both servers of Python: the official SDK's and fastmcp's.

The agent is the reference agent, an MCP client in this process; what is tested is the server, and what the
protocol makes of an error on its way to a model. Faults are raised inside the tool's own function.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any

from forge_chaos import reference
from forge_chaos.adapters._threads import Blocking, blocking
from forge_chaos.adapters._through import gated
from forge_chaos.inference import spec
from forge_chaos.nouns import Answer, Task, Tool, ToolSpec
from forge_chaos.ports import Agent, Gate

Connect = Callable[[Any], AbstractAsyncContextManager[Any]]
Behind = Callable[[Any], Iterable[Any]]  # the tools of a server: each has name, description, parameters, fn
LOGGERS = ("mcp", "fastmcp")


class ToolFailed(Exception):
    """The server answered that the call failed; the text is all that a client is told."""


class Remote:
    """The tools of a session with a server, as a native agent sees tools."""

    def __init__(self, session: Any, specs: Mapping[str, ToolSpec]) -> None:
        self._session = session
        self._specs = specs
        self.specs = [each.openai() for each in specs.values()]
        self.names = tuple(specs)

    async def call(self, name: str, args: Mapping[str, Any] | None = None, *, id: str | None = None) -> Any:
        """The text of the result. Raises ToolFailed with the text that came where the server says so."""
        result = await self._session.call_tool(name, dict(args or {}))
        text = "\n".join(str(getattr(part, "text", part)) for part in result.content)
        if result.is_error:
            raise ToolFailed(text)
        return text

    def limit(self, name: str) -> float:
        found = self._specs.get(name)
        return found.limit if found is not None else reference.SECONDS


def specs_of(tools: Iterable[Any]) -> dict[str, ToolSpec]:
    """What the server says of its tools, with what is declared on their functions."""
    return {
        tool.name: spec(
            tool.name, tool.description or "", dict(tool.parameters), getattr(tool.fn, "chaos", None)
        )
        for tool in tools
    }


def served(server: Any, functions: Behind, connect: Connect) -> Agent:
    """The reference agent as a client of a user's server, the server's functions behind the gate."""

    async def run(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        async with blocking() as door:
            with behind(functions(server), specs, gate, door):
                return await asked(server, connect, task, specs, model)

    return run


async def asked(
    server: Any, connect: Connect, task: Task, specs: Mapping[str, ToolSpec], model: Any
) -> Answer:
    """The reference agent's answer, with the tools of this server. All turns of a session share one connection."""
    if "connection" not in task.session:
        opened: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        task.session["keeper"] = asyncio.create_task(_connected(server, connect, opened))
        task.session["connection"] = opened
    session = await asyncio.shield(task.session["connection"])
    return Answer(await reference.agent(task, Remote(session, specs), model))


async def _connected(server: Any, connect: Connect, opened: asyncio.Future[Any]) -> None:
    """Hold a connection open until the end of the trial cancels this: it is closed where it was opened."""
    with quiet():
        try:
            async with connect(server) as session:
                opened.set_result(session)
                await asyncio.get_running_loop().create_future()
        except Exception as error:
            if opened.done():
                raise
            opened.set_exception(error)


@contextmanager
def quiet() -> Iterator[None]:
    """Both servers log each failed call with a drawn traceback, which takes longer than the trial."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@contextmanager
def behind(tools: Iterable[Any], specs: Mapping[str, ToolSpec], gate: Gate, door: Blocking) -> Iterator[None]:
    """The functions of these tools with the gate round them, put back at the end."""
    before = [(tool, tool.fn) for tool in tools if tool.name in specs]
    for tool, function in before:
        tool.fn = gated(function, specs[tool.name], gate, door)
    try:
        yield
    finally:
        for tool, function in before:
            tool.fn = function


__all__ = ["Remote", "ToolFailed", "asked", "served", "specs_of"]
