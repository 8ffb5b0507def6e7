"""fastmcp: a scenario's tools served by its `FastMCP`, or a user's own server.

The client is the reference agent, over fastmcp's in-memory transport. Tools that a server only mounts or
proxies are not reached: put `forge-chaos proxy` in front of those.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from forge_chaos.adapters import _mcp
from forge_chaos.adapters._through import offered
from forge_chaos.errors import Misuse
from forge_chaos.nouns import Answer, Task, Tool, ToolSpec
from forge_chaos.ports import Gate, Seat

WAY = "Install it with: pip install 'forge-chaos[mcp]'."


class FastMCP:
    """The adapter. Nothing of the framework is imported before a server of it is used."""

    name = "fastmcp"
    time = "virtual"
    order = "asking order by tool and target: the protocol has no place for the model's call id"

    def recognises(self, thing: object) -> bool:
        return any(
            base.__module__.startswith("fastmcp.server") and base.__name__ == "FastMCP"
            for base in type(thing).__mro__
        )

    def seat(self, thing: Any) -> Seat:
        """A server of the user's: its tools are found, and their functions wrapped for the run."""
        if not self.recognises(thing):
            raise Misuse(f"adapter fastmcp: {type(thing).__name__} is no fastmcp.FastMCP.")
        agent, specs = _mcp.served(thing, _tools, _session), _mcp.specs_of(_tools(thing))
        return Seat(agent, self.name, specs=specs, turns=True)

    def framework(self) -> Seat:
        """`FastMCP().tool(...)` round a scenario's tools, the reference agent as its client."""
        try:
            from fastmcp import Client, FastMCP  # noqa: F401  # to fail early; and no trial waits for the import
        except ImportError as error:
            raise Misuse(f"framework:fastmcp does not import: {error}. {WAY}") from None
        return Seat(_bench, self.name, turns=True)


async def _bench(
    task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
) -> Answer:
    if "server" not in task.session:
        task.session["server"] = _server(specs, tools, gate)
    return await _mcp.asked(task.session["server"], _session, task, specs, model)


def _server(specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate) -> Any:
    from fastmcp import FastMCP as Server

    server: Any = Server("scenario")
    for name, declared in specs.items():
        if name in tools:
            server.tool(offered(declared, tools[name], gate), name=name, description=declared.description)
    return server


def _tools(server: Any) -> list[Any]:
    return [each for each in server.local_provider._components.values() if hasattr(each, "fn")]


class _Plain:
    """fastmcp's client, telling a failed call by its result as the official one does."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def call_tool(self, name: str, args: Mapping[str, Any]) -> Any:
        return await self._client.call_tool(name, dict(args), raise_on_error=False)


@asynccontextmanager
async def _session(server: Any) -> AsyncIterator[_Plain]:
    from fastmcp import Client

    async with Client(server) as client:
        yield _Plain(client)


adapter = FastMCP()
