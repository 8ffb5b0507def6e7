"""A trace in words, and where two traces part."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from forge_chaos import story
from forge_chaos.events import (
    Abandoned,
    Asked,
    Body,
    Called,
    Event,
    Executed,
    Finished,
    Injected,
    Noted,
    Replied,
    Returned,
    Snapshot,
    Started,
    Told,
    Trace,
)

STARTED = Started("sum", "b2:1", "me", "scripted", ("timeout",), 3)
LATE = Told(error={"code": "timeout", "message": "late", "text": "TimeoutError: late"})
CALLS = {"tool_calls": [{"function": {"name": "read_file"}}, {"function": {"name": "list_files"}}]}

WORDS: list[tuple[Body, str]] = [
    (STARTED, "started sum by me, seed 3, plan: timeout"),
    (replace(STARTED, rules=()), "started sum by me, seed 3, plan: empty"),
    (Asked(1, 2, ({"role": "user"},)), "model request 1: 2 messages kept, 1 new"),
    (Replied(1, {"content": "DONE"}), "model reply 1: 'DONE'"),
    (Replied(1, CALLS), "model reply 1: asks for read_file, list_files"),
    (Replied(1, None, error="429"), "model reply 1: 429"),
    (Called(3, "read_file", {"path": "a", "limit": 2}), 'call 3: read_file(path="a", limit=2)'),
    (
        Injected("timeout", "timeout.raises", "fail", 3, None, "read_file", "a", 2),
        "FAULT timeout.raises on call 3 (number 2 on a)",
    ),
    (
        Injected("timeout", "timeout.raises", "fail", 3, None, "now", None, 2),
        "FAULT timeout.raises on call 3 (number 2 on this tool)",
    ),
    (
        Injected("truncated_context", "truncated_context.newest", "history", None, 4, "", None, 1),
        "FAULT truncated_context.newest on model request 4",
    ),
    (Executed(3, Told("one\ntwo")), "the real tool ran for call 3: one two"),
    (Returned(3, Told({"a": [1]})), 'told call 3: {"a": [1]}'),
    (Returned(3, LATE), "told call 3: TimeoutError: late"),
    (Returned(3, Told(error={"code": "x", "message": "bare"})), "told call 3: bare"),
    (Abandoned(3, "cancelled"), "call 3 left open: cancelled"),
    (Noted("broken", {"a": 1}), 'noted broken: {"a": 1}'),
    (Finished("answered", "DONE"), "finished: answered: 'DONE'"),
    (Finished("stopped", "", why="calls"), "finished: stopped (calls): ''"),
    (Finished("raised", error={"type": "KeyError", "message": "'a'"}), "finished: raised KeyError: 'a'"),
    (Snapshot({"a": "1", "b": "2"}), "the world after: a, b"),
    (Snapshot({}), "the world after: empty"),
]


@pytest.mark.parametrize(("body", "words"), WORDS, ids=[words[:30] for _, words in WORDS])
def test_an_event_in_words(body: Body, words: str) -> None:
    assert story.line(Event(7, 1.5, body)) == f"[7] 1.5s {words}"


def test_every_kind_of_event_has_words_of_its_own() -> None:
    assert {type(body) for body, _ in WORDS} == set(Body.__args__)


def test_a_long_one_is_cut() -> None:
    line = story.line(Event(0, 0.0, Executed(1, Told("x" * 1000))))
    assert (len(line), line[-1]) == (story.WIDTH, "…")
    assert story.short("a  b\nc", 5) == "a b c"
    assert story.short("a  b\nc", 4) == "a b…"


def trace(*bodies: Any) -> Trace:
    return tuple(Event(n, float(n), body) for n, body in enumerate(bodies))


TRACE = trace(
    STARTED, Called(1, "a", {}), Noted("check_command", {"exit": 0, "output": "0.1 s"}), Snapshot({})
)


def test_some_lines_or_all() -> None:
    assert len(story.lines(TRACE)) == 4
    assert story.lines(TRACE, [1, 9]) == ["[1] 1s call 1: a()"]


@pytest.mark.parametrize(
    ("place", "body", "same"),
    [
        (0, replace(STARTED, versions={"python": "4"}), True),
        (0, replace(STARTED, seed=4), False),
        (0, replace(STARTED, resources={"a": "1"}), False),
        (1, Called(1, "a", {"x": 1}), False),
        (2, Noted("check_command", {"exit": 0, "output": "0.2 s"}), True),
        (2, Noted("check_command", {"exit": 1, "output": "0.1 s"}), False),
        (3, Snapshot({"a": "1"}), False),
    ],
)
def test_where_two_traces_part(place: int, body: Any, same: bool) -> None:
    other = tuple(replace(event, body=body) if event.seq == place else event for event in TRACE)
    assert story.difference(TRACE, other) == (None if same else (TRACE[place], other[place]))


def test_times_count_only_where_they_can_come_again() -> None:
    later = tuple(replace(event, at=event.at + 0.1) for event in TRACE)
    assert story.difference(TRACE, later) == (TRACE[1], later[1])
    assert story.difference(TRACE, later, timed=False) is None
    other = (*later[:3], replace(later[3], body=Snapshot({"a": "1"})))
    assert story.difference(TRACE, other, timed=False) == (TRACE[3], other[3])


def test_one_that_is_shorter_parts_at_its_end() -> None:
    assert story.difference(TRACE, TRACE[:2]) == (TRACE[2], None)
    assert story.difference(TRACE[:2], TRACE) == (None, TRACE[2])
    assert story.difference(TRACE, TRACE) is None
