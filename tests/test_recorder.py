"""The recorder: numbered, timed, streamed, and closed at the end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from forge_chaos.events import Abandoned, Event, Noted
from forge_chaos.recorder import Recorder


class Clock:
    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def test_events_are_numbered_and_timed_from_the_start() -> None:
    clock = Clock(1000.0)
    record = Recorder(clock)
    record(Noted, "first")
    clock.now += 0.25
    record(Abandoned, 1, "why")
    assert record.trace == (Event(0, 0.0, Noted("first")), Event(1, 0.25, Abandoned(1, "why")))
    assert len(record) == 2


def test_the_trace_goes_on_after_it_was_read() -> None:
    record = Recorder(Clock(0.0))
    record(Noted, "a")
    assert record.trace == (Event(0, 0.0, Noted("a")),)
    record(Noted, "b")
    record(Noted, "c")
    assert [event.seq for event in record.trace] == [0, 1, 2]
    assert record.trace[0] is record.trace[0]


def test_a_sink_gets_each_event_once_as_it_happens() -> None:
    seen: list[Event] = []
    record = Recorder(Clock(5.0), sink=seen.append)
    for what in "abc":
        record(Noted, what)
        assert seen[-1].body == Noted(what)
    assert tuple(seen) == record.trace


def test_what_comes_after_the_end_is_no_part_of_it() -> None:
    seen: list[Event] = []
    record = Recorder(Clock(0.0), sink=seen.append)
    record(Noted, "a")
    record.end()
    record(Noted, "late")
    assert record.trace == tuple(seen) == (Event(0, 0.0, Noted("a")),)
    assert len(record) == 1


@given(st.floats(0, 1e6), st.lists(st.floats(0, 1e4), max_size=20), st.sets(st.integers(0, 20)))
def test_time_never_falls_and_numbers_have_no_gaps(
    start: float, pauses: list[float], reads: set[int]
) -> None:
    clock = Clock(start)
    record = Recorder(clock)
    for n, pause in enumerate(pauses):
        clock.now += pause
        record(Noted, str(n))
        if n in reads:
            assert len(record.trace) == n + 1
    trace = record.trace
    assert [event.seq for event in trace] == list(range(len(pauses)))
    assert [event.at for event in trace] == sorted(event.at for event in trace)
    assert all(event.at == round(event.at, 6) for event in trace)
