"""Trials in one child process that can be killed: for agents that block, exit, print or eat memory.

Every event is streamed as it happens; it is the partial trace and the sign of life. A trial that gives
none for `watchdog` seconds is recorded as hung, one whose process dies as raised; the child is replaced
and the next order goes on. Nothing of it stays after `close`.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import forge_chaos
from forge_chaos.errors import Broken, Misuse
from forge_chaos.events import Event, Trace
from forge_chaos.executors import _family
from forge_chaos.executors._ending import ended
from forge_chaos.order import Order
from forge_chaos.recorded import redactor
from forge_chaos.tracefile import event_from_json

BENCH = "forge_chaos.bench:Bench"
WATCHDOG = 10.0  # real seconds without an event
STARTUP = 120.0  # real seconds to import the agent in
GRACE = 1.0  # real seconds for a child that was told to leave
GLANCE = 0.1  # real seconds between two looks at a child whose pipe somebody else holds open
MOST_EVENTS = 100_000  # a trial; the gate's own budget ends an honest loop long before
MOST_BYTES = 256_000_000  # a trial
TAIL = 8_000  # bytes kept of what the agent printed
CONTROL = frozenset({"hello", "done", "raised", "misuse", "broken"})
# -P and an argument instead of -m: the first import must be ours, whatever lies in the directory.
BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from forge_chaos.executors._worker import main; main(int(sys.argv[2]), int(sys.argv[3]))"


class Setup(Protocol):
    """What a bench is built from: its type is found by name in the child."""

    def to_json(self) -> dict[str, Any]: ...


class _Died(Exception):
    """The child is gone; the text says how."""


class _Hung(Exception):
    """The child gave no sign of life, or too many; the text says which."""


class child:
    """Runs orders on a bench in a child process.

    `watchdog`: real seconds without an event after which a trial is hung. `memory`: bytes of address
    space that the child may have. `bench`: what is built on the setup, as `module:attribute`.
    `complain` gets the last of what the agent printed when its process dies.
    Raises Misuse for what the child refuses or when it does not start, Broken for our own failures.
    """

    def __init__(
        self,
        setup: Setup,
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
        self._process: _Process | None = None
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
        process = self._started()
        events: list[Event] = []
        try:
            try:
                process.send(order.to_json())
                end = self._follow(process, events)
            except _Hung as hung:
                self._end()
                for record in process.rest():
                    if record["kind"] not in CONTROL and len(events) < self._events:
                        events.append(event_from_json(record))
                return ended(order, events, "hung", str(hung))
            except _Died as died:
                self._end()
                self._complain(process.tail(f"{order.id}: the agent's process ended ({died})"))
                error = {"type": "ProcessDied", "module": __name__, "message": str(died), "causes": []}
                return ended(order, events, "raised", "process died", error)
        except BaseException:
            self._end()  # Ctrl-C among them: no child outlives the run
            raise
        return self._whole(order, events, end, process)

    def _follow(self, process: _Process, events: list[Event]) -> Mapping[str, Any]:
        """Collects the trial's events; gives back the report that ends it."""
        size = 0
        while True:
            record, length = process.receive(self._watchdog, "watchdog")
            if record["kind"] in CONTROL:
                return record
            events.append(event_from_json(record))
            size += length
            if len(events) >= self._events or size >= MOST_BYTES:
                raise _Hung("no end of events")

    def _whole(self, order: Order, events: list[Event], end: Mapping[str, Any], process: _Process) -> Trace:
        if end["kind"] == "done" and end["events"] == len(events):
            return tuple(events)
        self._end()
        if end["kind"] == "raised":
            return ended(order, events, "raised", error=end["error"])
        if end["kind"] == "misuse":
            raise Misuse(end["text"])
        if end["kind"] == "done":
            end = {"text": f"{end['events']} events were recorded and {len(events)} streamed"}
        self._complain(process.tail(end.get("traceback", "")))
        raise Broken(f"trial {order.id} of scenario {order.scenario!r} could not be run: {end['text']}")

    def _started(self) -> _Process:
        if self._process is not None and self._process.alive():
            return self._process
        self._end()
        process = self._process = _Process()
        try:
            kind = type(self._setup)
            process.send(
                {
                    "parent": os.getpid(),
                    "path": sys.path,
                    "cwd": os.getcwd(),
                    "memory": self._memory,
                    "bench": self._bench,
                    "setup": {"type": f"{kind.__module__}:{kind.__qualname__}", "data": self._setup.to_json()},
                }
            )
            answer, _ = process.receive(self._startup, f"it took over {self._startup:g} seconds")
        except (_Died, _Hung) as error:
            self._end()
            raise Misuse(process.tail(f"the agent's process did not start: {error}.")) from None
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


class _Process:
    """The child as the parent holds it: two pipes for orders and reports, one for what it prints."""

    def __init__(self) -> None:
        orders, self._orders = os.pipe()
        self._reports, reports = os.pipe()
        self._prints, prints = os.pipe()
        root = str(Path(forge_chaos.__file__).parent.parent)
        try:
            self._popen = subprocess.Popen(
                [sys.executable, "-P", "-c", BOOT, root, str(orders), str(reports)],
                stdin=subprocess.DEVNULL,
                stdout=prints,
                stderr=prints,
                pass_fds=(orders, reports),
                start_new_session=True,
            )
        except OSError as error:
            raise Broken(f"no child process can be started: {error}") from None
        finally:
            for fd in (orders, reports, prints):
                os.close(fd)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._reports, selectors.EVENT_READ)
        self._selector.register(self._prints, selectors.EVENT_READ)
        self._lines: list[bytes] = []
        self._torn = b""
        self._printed = b""
        self._over = False

    def alive(self) -> bool:
        """Still there to take an order. A child that died between two trials takes none with it."""
        return not self._over and not self._exited()

    def send(self, message: Mapping[str, Any]) -> None:
        """One line to the child. Raises _Died."""
        data = (json.dumps(message) + "\n").encode()
        try:
            while data:
                data = data[os.write(self._orders, data) :]
        except BrokenPipeError:
            raise _Died(self._how()) from None

    def receive(self, patience: float, why: str) -> tuple[dict[str, Any], int]:
        """The next report and its length. Raises _Hung after `patience` real seconds without one, _Died
        when none can come any more."""
        until = time.monotonic() + patience
        while not self._lines:
            left = until - time.monotonic()
            if self._over:
                raise _Died(self._how())
            if left <= 0:
                raise _Hung(why)
            if not self._read(min(left, GLANCE)) and self._exited():
                self._over = True  # a process of the agent's holds the pipe open
        line = self._lines.pop()
        record: dict[str, Any] = json.loads(line)
        return record, len(line)
