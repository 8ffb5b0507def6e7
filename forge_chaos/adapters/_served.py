"""A scenario's tools behind the Model Context Protocol, for agents that are not in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import wraps
from typing import Any

from forge_chaos.adapters._through import offered
from forge_chaos.errors import Misuse
from forge_chaos.modelserver.loopback import bound
from forge_chaos.nouns import Task, Tool, ToolSpec
from forge_chaos.ports import Gate

WAY = "Install it with: pip install 'forge-chaos[mcp]'."


def needed() -> None:
    """Fail early, with the way out. Raises Misuse when fastmcp is not installed."""
    try:
        import fastmcp  # noqa: F401  # only to see whether it is there
    except ImportError as error:
        raise Misuse(f"tools over MCP need fastmcp: {error}. {WAY}") from None


def server(task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate) -> Any:
    """A scenario's tools as an MCP server. A fault is raised inside the tool, so that it reaches the client as
    the error of a tool: `isError`, with the text of the natural exception."""
    from fastmcp import FastMCP
    from fastmcp.exceptions import ToolError

    made: Any = FastMCP("forge-chaos", instructions=task.prompt)
    for name, declared in specs.items():
        if name in tools:
            made.tool(
                _raising(offered(declared, tools[name], gate), ToolError),
                name=name,
                description=declared.description,
            )
    return made


def _raising(tool: Callable[..., Any], kind: type[Exception]) -> Callable[..., Any]:
    """Whatever the tool raises, as the protocol's own error with the text that Python would print."""

    @wraps(tool)
    async def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return await tool(*args, **kwargs)
        except Exception as error:
            raise kind(f"{type(error).__name__}: {error}") from error

    return call


@asynccontextmanager
async def http(served: Any, number: int = 0, plain: bool = False) -> AsyncIterator[Web]:
    """The server over streamable HTTP at a port of 127.0.0.1 (0: any free one), as long as this is open.

    `plain`: every request stands for itself and is answered by one JSON object, so that a shell needs no more
    than `curl` for a call; clients that keep a session do not notice. Calls still open at the end are cancelled.
    Raises Misuse when the port is taken.
    """
    import uvicorn

    class Server(uvicorn.Server):
        """One that leaves Ctrl-C to us, and ends when it is told to."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

        async def main_loop(self) -> None:
            await web.over.wait()

    web = Web()
    options = {"stateless_http": True, "json_response": True} if plain else {}
    config = uvicorn.Config(
        served.http_app(**options),
        log_config=None,
        log_level="critical",
        ws="none",
        timeout_graceful_shutdown=1,
    )
    with bound(number) as place:
        web.url = f"http://127.0.0.1:{place.getsockname()[1]}/mcp"
        serving = asyncio.create_task(Server(config).serve([place]))
        try:
            yield web
        finally:
            web.over.set()
            await serving


class Web:
    """Where it is, and its end: whoever sets `over` ends it."""

    def __init__(self) -> None:
        self.url = ""
        self.over = asyncio.Event()


__all__ = ["Web", "http", "needed", "server"]
