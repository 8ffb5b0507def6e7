"""An agent that we do not run: it comes to a scenario's tools over the Model Context Protocol, in whatever
language it is written, and to the scripted model over its wire, and both pass the gates of one trial."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, Literal

from forge_chaos.adapters._mcp import quiet
from forge_chaos.adapters._served import http, needed, server
from forge_chaos.nouns import Answer, Task, Tool, ToolSpec
from forge_chaos.ports import Gate, Seat

Door = Literal["stdio", "http"]


def seat(door: Door, port: int, told: Callable[[str], None]) -> Seat:
    """The place of an agent outside. It is over when the agent closes its session (stdio) or at Ctrl-C.

    `told` gets the lines that say how agent and model are reached. What the model said last is the answer.
    Raises Misuse when fastmcp is not installed.
    """
    needed()

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
                async with http(served, port) as web:
                    with listening(web.over.set):
                        told(f"MCP={web.url}")
                        await web.over.wait()
        return Answer(model.gate.said)

    return Seat(agent, "outside", deterministic=False, time="real")


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
