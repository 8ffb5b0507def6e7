"""fastmcp, as https://gofastmcp.com/servers/tools shows a server; its user is the reference agent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from forge_chaos import reference
from forge_chaos.adapters._mcp import Remote, specs_of
from forge_chaos.adapters.fastmcp import _session, _tools
from forge_chaos.nouns import Task
from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.mcp import Talker
from tests.conformance.frameworks.wire import Wire


def build(functions: Sequence[Callable[..., Any]], wire: Wire) -> Any:
    from fastmcp import FastMCP

    server: Any = FastMCP("files")
    for function in functions:
        server.tool(function)
    server.wire = wire
    return server


async def play(server: Any, prompt: str) -> str:
    specs = specs_of(_tools(server))
    async with _session(server) as session:
        return await reference.agent(Task(prompt, 20), Remote(session, specs), Talker(server.wire))


# Our client gives up by its own limit, and the thread of the tool that blocks is still there.
KIT = Kit("fastmcp", "fastmcp.server", build, play, modelless=True, blocked="violated")
