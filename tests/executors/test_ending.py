"""Whatever was there of a trial becomes a whole trace that says how it really ended."""

from __future__ import annotations

import pytest

from forge_chaos.events import (
    Abandoned,
    Body,
    Called,
    Event,
    Executed,
    Finished,
    Returned,
    Snapshot,
    Started,
    Told,
    Trace,
    find,
)
from forge_chaos.executors._ending import ended
from forge_chaos.order import Order

ORDER = Order("t1", "sum", ("timeout",), 7, 2)
BODIES: tuple[Body, ...] = (
    Started("sum", "b2:1", "a", "m", ("timeout",), 7, 2),
    Called(1, "look", {}),
    Called(2, "look", {}),
    Abandoned(2),
    Called(3, "look", {}),
    Executed(1, Told("x")),
    Returned(1, Told("x")),
    Finished("answered", "DONE", "done", honest=True),
    Snapshot({"a": "x"}),
)
WHOLE = tuple(Event(n, n / 2, body) for n, body in enumerate(BODIES))


@pytest.mark.parametrize("seen", range(len(WHOLE) + 1))
def test_every_prefix_of_a_trace_becomes_a_whole_one(seen: int) -> None:
    trace: Trace = ended(ORDER, WHOLE[:seen], "hung", "watchdog")
    assert [event.seq for event in trace] == list(range(len(trace)))
    assert [event.at for event in trace] == sorted(event.at for event in trace)
    assert isinstance(trace[0].body, Started)
    assert isinstance(trace[-1].body, Snapshot)
    called = [body.call for _, body in find(trace, Called)]
    closed = [body.call for _, body in find(trace, Returned)]
    closed += [body.call for _, body in find(trace, Abandoned)]
    assert sorted(called) == sorted(closed)
    ((_, finished),) = find(trace, Finished)
    assert (finished.end, finished.why, finished.honest) == ("hung", "watchdog", False)
    kept = [event for event in WHOLE[:seen] if not isinstance(event.body, Finished)]
    assert [event for event in trace if event in kept] == kept


def test_without_any_event_the_order_says_what_was_to_happen() -> None:
    trace = ended(ORDER, (), "raised", error={"type": "ProcessDied"})
    assert [event.body for event in trace] == [
        Started("sum", "", "", "", ("timeout",), 7, 2),
        Finished("raised", error={"type": "ProcessDied"}),
        Snapshot(known=False),
    ]


def test_an_answer_is_kept_in_the_end_that_follows() -> None:
    ((_, finished),) = find(ended(ORDER, WHOLE[:8], "hung", "watchdog"), Finished)
    assert (finished.answer, finished.status) == ("DONE", "done")


def test_a_known_world_stays_known() -> None:
    assert ended(ORDER, WHOLE, "hung")[8].body == Snapshot({"a": "x"})
