"""Trials in one child process that can be killed: for agents that block, exit, print or eat memory.

Every event is streamed as it happens; it is the partial trace and the sign of life. A trial that gives
none for `watchdog` seconds is recorded as hung, one whose process dies as raised; the child is replaced
and the next order goes on. Nothing of it stays after `close`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from forge_chaos.errors import Broken, Misuse
from forge_chaos.events import Event, Trace
from forge_chaos.executors._ending import ended
from forge_chaos.executors._process import Died, Hung, Process
from forge_chaos.order import Order
from forge_chaos.tracefile import event_from_json

BENCH = "forge_chaos.bench:Bench"
WATCHDOG = 10.0  # real seconds without an event
STARTUP = 120.0  # real seconds to import the agent in
MOST_EVENTS = 100_000  # a trial; the gate's own budget ends an honest loop long before
MOST_BYTES = 256_000_000  # a trial
CONTROL = frozenset({"hello", "done", "raised", "misuse", "broken"})


class child:
    """Runs orders on a bench in a child process.

    `setup` is JSON, what the bench is built from (`Setup.to_json()`).
    `watchdog`: real seconds without an event after which a trial is hung. `memory`: bytes of address
    space that the child may have. `bench`: what is built on the setup, as `module:attribute`.
    `complain` gets the last of what the agent printed when its process dies.
    Raises Misuse for what the child refuses or when it does not start, Broken for our own failures.
    """

    def __init__(
        self,
        setup: Mapping[str, Any],
        *,
        watchdog: float = WATCHDOG,
        memory: int | None = None,
        bench: str = BENCH,
        startup: float = STARTUP,
        events: int = MOST_EVENTS,
        complain: Callable[[str], None] | None = None,
    ) -> None:
        self._setup = setup
        self._watchdog = watchdog
        self._memory = memory
        self._bench = bench
        self._startup = startup
        self._events = events
        self._complain = complain or _to_stderr
        self._process: Process | None = None
        self._hello: dict[str, Any] = {}

    def hello(self) -> dict[str, Any]:
        """What the bench says of the agent, as JSON; starts the child when there is none."""
        self._started()
        return self._hello

    def run(self, orders: Iterable[Order]) -> Iterator[tuple[Order, Trace]]:
        """One finished trace for each order, in their order, whatever the trials do to their process."""
        for order in orders:
            yield order, self._trace(order)

    def close(self) -> None:
        """Let the child put its things away, for a second at most, and leave no process of it."""
        process, self._process = self._process, None
        if process is not None:
            process.leave()

    def _trace(self, order: Order) -> Trace:
        try:
            return self._try(order) or self._try(order, again=True) or ()
        except BaseException:
            self._end()  # Ctrl-C among them: no child outlives the run
            raise

    def _try(self, order: Order, again: bool = False) -> Trace:
        """The trial's trace. Empty when the child died before its first event, and not `again`: what the
        trial before has left behind may have killed it, and this one must not be blamed."""
        process = self._started()
        events: list[Event] = []
        try:
            process.send(order.to_json())
            end = self._follow(process, events)
        except Hung as hung:
            self._end()
            for record in process.rest():
                if record["kind"] not in CONTROL and len(events) < self._events:
                    events.append(event_from_json(record))
            return ended(order, events, "hung", str(hung))
        except Died as died:
            self._end()
            if not events and not again:
                return ()
            self._complain(process.tail(f"{order.id}: the agent's process ended ({died})"))
            error = {"type": "ProcessDied", "module": __name__, "message": str(died), "causes": []}
            return ended(order, events, "raised", "process died", error)
        return self._whole(order, events, end, process)

    def _follow(self, process: Process, events: list[Event]) -> Mapping[str, Any]:
        """Collects the trial's events; gives back the report that ends it."""
        size = 0
        while True:
            record, length = process.receive(self._watchdog, "watchdog")
            if record["kind"] in CONTROL:
                return record
            events.append(event_from_json(record))
            size += length
            if len(events) >= self._events or size >= MOST_BYTES:
                raise Hung("no end of events")

    def _whole(self, order: Order, events: list[Event], end: Mapping[str, Any], process: Process) -> Trace:
        if end["kind"] == "done" and end["events"] == len(events):
            return tuple(events)
        self._end()
        if end["kind"] == "raised":
            return ended(order, events, "raised", error=end["error"])
        if end["kind"] == "misuse":
            raise Misuse(end["text"])
        if end["kind"] == "done":  # the agent got between its trial and us, by fork() for one
            text = f"{end['events']} events were recorded and {len(events)} arrived"
            error = {"type": "TraceTornApart", "module": __name__, "message": text, "causes": []}
            return ended(order, events, "raised", "trace torn apart", error)
        self._complain(process.tail(end.get("traceback", "")))
        raise Broken(f"trial {order.id} of scenario {order.scenario!r} could not be run: {end['text']}")

    def _started(self) -> Process:
        if self._process is not None and self._process.alive():
            return self._process
        self._end()
        process = self._process = Process()
        try:
            process.send(
                {
                    "parent": os.getpid(),
                    "path": sys.path,
                    "cwd": os.getcwd(),
                    "memory": self._memory,
                    "bench": self._bench,
                    "setup": dict(self._setup),
                }
            )
            answer, _ = process.receive(self._startup, f"it took over {self._startup:g} seconds")
        except (Died, Hung) as error:
            self._end()
            raise Misuse(process.tail(f"the agent's process did not start: {error}.", lines=12)) from None
        except BaseException:
            self._end()
            raise
        if answer["kind"] != "hello":
            self._end()
            raise Misuse(answer["text"])
        self._hello = answer["says"]
        return process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()


def _to_stderr(text: str) -> None:
    sys.stderr.write(text + "\n")
