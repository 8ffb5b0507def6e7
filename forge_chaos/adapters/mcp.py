"""The official MCP SDK: a scenario's tools served by its `MCPServer`, or a user's own server.

The client is the reference agent, over the SDK's in-memory session. `recognises` an `MCPServer`; servers in
other languages are reached by `forge-chaos proxy`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from forge_chaos.adapters import _mcp, _releases
from forge_chaos.adapters._through import offered
from forge_chaos.errors import Misuse
from forge_chaos.nouns import Answer, Task, Tool, ToolSpec
from forge_chaos.ports import Gate, Seat

WAY = "Install it with: pip install 'forge-chaos[mcp]'."
RELEASES = ("2.0", "3.0")


class MCP:
    """The adapter. Nothing of the SDK is imported before a server of it is used."""

    name = "mcp"
    time = "virtual"
    order = "asking order by tool and target: the protocol has no place for the model's call id"

    def recognises(self, thing: object) -> bool:
        return any(
            base.__module__.startswith("mcp.server.mcpserver") and base.__name__ == "MCPServer"
            for base in type(thing).__mro__
        )

    def seat(self, thing: Any) -> Seat:
        """A server of the user's: its tools are found, and their functions wrapped for the run."""
        if not self.recognises(thing):
            raise Misuse(f"adapter mcp: {type(thing).__name__} is no mcp.server.MCPServer.")
        return Seat(
            _mcp.served(thing, _tools, _session),
            self.name,
            specs=_mcp.specs_of(_tools(thing)),
            honest=(),
            turns=True,
        )

    def framework(self) -> Seat:
        """`MCPServer().tool(...)` round a scenario's tools, the reference agent as its client."""
        _releases.supported(self.name, "mcp", *RELEASES)
        try:
            import mcp.server.mcpserver  # noqa: F401  # only to fail early, with the way out
            from mcp import Client  # noqa: F401
        except ImportError as error:
            raise Misuse(f"framework:mcp does not import: {error}. {WAY}") from None
        return Seat(_bench, self.name, turns=True)


async def _bench(
    task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
) -> Answer:
    if "server" not in task.session:
        task.session["server"] = _server(specs, tools, gate)
    return await _mcp.asked(task.session["server"], _session, task, specs, model)


def _server(specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate) -> Any:
    from mcp.server import MCPServer

    server = MCPServer("scenario")
    for name, declared in specs.items():
        if name in tools:
            server.add_tool(offered(declared, tools[name], gate), name, description=declared.description)
    return server


def _tools(server: Any) -> list[Any]:
    found: list[Any] = server._tool_manager.list_tools()
    return found


def _session(server: Any) -> AbstractAsyncContextManager[Any]:
    from mcp import Client

    client: AbstractAsyncContextManager[Any] = Client(server)
    return client


adapter = MCP()
