"""The official MCP SDK, as https://py.sdk.modelcontextprotocol.io/server/tools/ shows a server.

A server has no model: its user is a client, here the reference agent over a session of the SDK's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from forge_chaos import reference
from forge_chaos.adapters._mcp import Remote, specs_of
from forge_chaos.nouns import Task
from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.wire import Wire


class Talker:
    """The wire as a native agent asks it."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def complete(self, messages: Any, tools: Any = ()) -> Any:
        request = {"model": "scripted", "messages": messages, **({"tools": tools} if tools else {})}
        status, answer = await self._wire.door("/v1/chat/completions", json.dumps(request).encode())
        assert status == 200, answer
        return json.loads(answer)["choices"][0]["message"]


def build(functions: Sequence[Callable[..., Any]], wire: Wire) -> Any:
    from mcp.server import MCPServer

    server: Any = MCPServer("files")
    for function in functions:
        server.add_tool(function)
    server.wire = wire
    return server


async def play(server: Any, prompt: str) -> str:
    from mcp import Client

    specs = specs_of(server._tool_manager.list_tools())
    async with Client(server) as session:
        return await reference.agent(Task(prompt, 20), Remote(session, specs), Talker(server.wire))


KIT = Kit(
    "mcp",
    "mcp.server.mcpserver",
    build,
    play,
    stock="stock/mcp_files.py:server",
    modelless=True,
    blocked="gave_up",
)
