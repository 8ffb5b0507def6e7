"""The end of a trial that could not write its own: its process hung, died or was left by an exception."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from forge_chaos.events import Abandoned, Body, Called, Event, Finished, Returned, Snapshot, Started, Trace
from forge_chaos.order import Order


def ended(
    order: Order, events: Iterable[Event], end: str, why: str = "", error: Mapping[str, Any] | None = None
) -> Trace:
    """`events` made a whole trace: every open call abandoned, one `Finished`, a world that nobody knows.

    An agent that had answered already did not get to its end either: its `Finished` keeps the answer
    and says how the trial really ended.
    """
    trace = list(events)
    at = trace[-1].at if trace else 0.0

    def append(body: Body) -> None:
        trace.append(Event(len(trace), at, body))

    if not trace:
        append(Started(order.scenario, "", "", "", order.rules, order.seed, order.repetition))
    open_calls = {event.body.call for event in trace if isinstance(event.body, Called)}
    open_calls -= {event.body.call for event in trace if isinstance(event.body, Returned | Abandoned)}
    finished = [event.seq for event in trace if isinstance(event.body, Finished)]
    for call in sorted(open_calls):
        append(Abandoned(call, why or end))
    for seq in finished:
        answered = trace[seq].body
        if isinstance(answered, Finished):
            body = replace(answered, end=end, why=why, error=error, honest=False)
            trace[seq] = replace(trace[seq], body=body)
    if not finished:
        append(Finished(end, error=error, why=why))
    if not isinstance(trace[-1].body, Snapshot):
        append(Snapshot(known=False))
    return tuple(trace)
