"""Trials in this process, one after the other: for agents that cannot block or kill it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from forge_chaos.events import Event, Trace
from forge_chaos.executors._ending import ended
from forge_chaos.order import Order
from forge_chaos.recorded import failure, redactor


class Bench(Protocol):
    """What runs one trial from start to end and calls `sink` with each event as it is recorded."""

    def hello(self) -> dict[str, Any]: ...
    def trace(self, order: Order, sink: Callable[[Event], None] | None = None) -> Trace: ...


class inline:
    """Runs orders on a bench in this process. Ctrl-C, misuse and our own failures come through."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def hello(self) -> dict[str, Any]:
        """What the bench says of the agent, as JSON."""
        return self._bench.hello()

    def run(self, orders: Iterable[Order]) -> Iterator[tuple[Order, Trace]]:
        """One finished trace for each order, in their order."""
        for order in orders:
            yield order, self._trace(order)

    def _trace(self, order: Order) -> Trace:
        events: list[Event] = []
        try:
            return self._bench.trace(order, events.append)
        except SystemExit as error:
            # An event loop lets it out past everything that would have recorded it.
            return ended(order, events, "raised", error=failure(error, redactor()))

    def close(self) -> None:
        """Let go of what the bench holds, where it holds anything."""
        close = getattr(self._bench, "close", None)
        if close is not None:
            close()
