"""The only mutable thing in a trial: the recorder that appends events to its trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forge_chaos.events import Body, Event, Trace
from forge_chaos.recorded import Redact, nothing_secret

Sink = Callable[[Event], None]


class Recorder:
    """Call it with an event's type and fields. Values must be in recorded form (`recorded.plain`).

    `sink` gets each event as it happens: how a child process streams its trace to the parent.
    Events are built only when they are asked for, which keeps the gate's hot path short.
    """

    __slots__ = ("_ended", "_events", "_now", "_raw", "_sink", "_start", "redact")

    def __init__(
        self, now: Callable[[], float], redact: Redact = nothing_secret, sink: Sink | None = None
    ) -> None:
        self._now = now
        self._start = now()
        # Flat - time, kind, fields, time, kind, fields - since a tuple for each event would be one more
        # object for the collector to walk.
        self._raw: list[Any] = []
        self._events: list[Event] = []
        self._sink = sink
        self._ended = False
        self.redact = redact

    def __call__(self, kind: type[Body], *fields: Any) -> None:
        if self._ended:
            return
        self._raw += (self._now(), kind, fields)
        if self._sink is not None:
            self._sink(self._build()[-1])

    def __len__(self) -> int:
        return len(self._raw) // 3

    def _build(self) -> list[Event]:
        for seq in range(len(self._events), len(self)):
            at, kind, fields = self._raw[3 * seq : 3 * seq + 3]
            self._events.append(Event(seq, round(at - self._start, 6), kind(*fields)))
        return self._events

    def end(self) -> None:
        """The trace is whole: what an agent that is still running does from now on is no part of it."""
        self._ended = True

    @property
    def trace(self) -> Trace:
        return tuple(self._build())
