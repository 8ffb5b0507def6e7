"""An agent that we do not run: it comes to a scenario's tools over the Model Context Protocol, in whatever
language it is written, and to the scripted model over its wire, and both pass the gates of one trial."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Literal

from forge_chaos.adapters._mcp import quiet
from forge_chaos.adapters._through import offered
from forge_chaos.errors import Misuse
from forge_chaos.nouns import Answer, Task, Tool, ToolSpec
from forge_chaos.ports import Gate, Seat

if TYPE_CHECKING:
    from collections.abc import Iterator

WAY = "Install it with: pip install 'forge-chaos[mcp]'."
Door = Literal["stdio", "http"]


def seat(door: Door, port: int, told: Callable[[str], None]) -> Seat:
    """The place of an agent outside. It is over when the agent closes its session (stdio) or at Ctrl-C.

    `told` gets the lines that say how agent and model are reached. What the model said last is the answer.
    Raises Misuse when fastmcp is not installed.
    """
    try:
        import fastmcp  # noqa: F401  # only to fail early, with the way out
    except ImportError as error:
        raise Misuse(f"tools over MCP need fastmcp: {error}. {WAY}") from None

    async def agent(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        from forge_chaos.modelserver.loopback import loopback

        served = server(task, specs, tools, gate)
        behind: AbstractContextManager[str | None] = loopback(model.door) if model.taken else nullcontext()
        with behind as url, quiet():
            if url is not None:
                told(f"OPENAI_BASE_URL={url}/v1 ANTHROPIC_BASE_URL={url}")
            if door == "stdio":
                with listening():
                    await served.run_stdio_async(show_banner=False)
            else:
                await over_http(served, port, told)
        return Answer(model.gate.said)

    return Seat(agent, "outside", deterministic=False, time="real")


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
    from functools import wraps

    @wraps(tool)
    async def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return await tool(*args, **kwargs)
        except Exception as error:
            raise kind(f"{type(error).__name__}: {error}") from error

    return call


async def over_http(served: Any, port: int, told: Callable[[str], None]) -> None:
    """Streamable HTTP on a port of 127.0.0.1, until Ctrl-C."""
    import uvicorn

    from forge_chaos.modelserver.loopback import bound

    class Server(uvicorn.Server):
        """One that leaves Ctrl-C to us."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    config = uvicorn.Config(
        served.http_app(), log_config=None, log_level="critical", timeout_graceful_shutdown=1
    )
    web = Server(config)
    with bound(port) as place, listening(lambda: setattr(web, "should_exit", True)):
        told(f"MCP=http://127.0.0.1:{place.getsockname()[1]}/mcp")
        await web.serve([place])


@contextmanager
def listening(act: Callable[[], None] | None = None) -> Iterator[None]:
    """Ctrl-C ends the trial in order, with a verdict: `act`, or else the task that is under way is cancelled."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    loop.add_signal_handler(signal.SIGINT, act or task.cancel)
    try:
        with suppress(asyncio.CancelledError):
            yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


__all__ = ["Door", "seat", "server"]
