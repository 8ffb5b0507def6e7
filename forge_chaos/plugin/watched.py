"""Trials in this process under a watchdog: for agents that are objects of the test, which no child can be sent.

A trial runs in a thread of its own, so that a test may have an event loop running and an agent that
blocks for real does not hang the session: after `watchdog` real seconds without an event the trial is
recorded as hung, its thread is told to end and left behind, and the next trial gets a new bench.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextvars import copy_context
from queue import Empty, SimpleQueue
from typing import Any

from forge_chaos.bench import WATCHDOG, Bench
from forge_chaos.events import Event, Trace
from forge_chaos.executors._ending import ended
from forge_chaos.order import Order
from forge_chaos.recorded import failure, redactor

GRACE = 1.0  # real seconds for a thread that was told to end


class watched:
    """Runs orders on a bench of this process. Misuse and our own failures come through.

    `bench` makes the bench, again after each trial that hung.
    """

    def __init__(self, bench: Callable[[], Bench], watchdog: float = WATCHDOG) -> None:
        self._make = bench
        self._bench = bench()
        self._watchdog = watchdog

    def hello(self) -> dict[str, Any]:
        """What the bench says of the agent, as JSON."""
        return self._bench.hello()

    def run(self, orders: Iterable[Order]) -> Iterator[tuple[Order, Trace]]:
        """One finished trace for each order, in their order."""
        for order in orders:
            yield order, self._trace(order)

    def close(self) -> None:
        self._bench.close()

    def _trace(self, order: Order) -> Trace:
        events: list[Event] = []
        said: SimpleQueue[Trace | BaseException | None] = SimpleQueue()  # None: a sign of life

        def sink(event: Event) -> None:
            events.append(event)
            said.put(None)

        bench, left = self._bench, threading.Event()

        def work() -> None:
            try:
                said.put(bench.trace(order, sink))
            except BaseException as error:
                said.put(error)
            if left.is_set():
                bench.close()

        home = os.getcwd()
        thread = threading.Thread(
            target=copy_context().run, args=(work,), daemon=True, name="forge-chaos-trial"
        )
        thread.start()
        while True:
            try:
                end = said.get(timeout=self._watchdog)
            except Empty:
                before = tuple(events)
                left.set()
                self._leave(thread, home)
                return ended(order, before, "hung", "watchdog")
            if isinstance(end, tuple):
                return end
            if isinstance(end, SystemExit):
                # An event loop lets it out past everything that would have recorded it.
                return ended(order, events, "raised", error=failure(end, redactor()))
            if end is not None:
                raise end

    def _leave(self, thread: threading.Thread, home: str) -> None:
        """Raise in the thread, which ends a loop of Python code at once and a blocking call when it returns."""
        ident = ctypes.c_ulong(thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(SystemExit))
        thread.join(GRACE)
        if not thread.is_alive():
            self._bench.close()
        os.chdir(home)
        self._bench = self._make()
