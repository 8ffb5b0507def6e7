"""An agent's own stream of events, put together again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from forge_chaos.adapters._streamed import streamed
from forge_chaos.nouns import Answer

START, STOP = {"type": "start"}, {"type": "stop"}


def delta(text: str) -> dict[str, Any]:
    return {"type": "delta", "text": text}


def put_together(*events: Any) -> Answer:
    async def agent() -> AsyncIterator[Any]:
        for event in events:
            yield event

    return asyncio.run(streamed(agent()))  # type: ignore[arg-type]  # an async generator


def messages(*events: Any) -> list[tuple[Any, ...]]:
    stream = put_together(*events).stream
    return [tuple(m.get(k) for k in ("start", "deltas", "text", "stop", "said")) for m in stream["messages"]]


def test_plain_text_is_the_answer_and_needs_no_events() -> None:
    assert put_together("a", "b", "") == Answer("ab", stream={"deltas": 3, "text": "ab"})
    assert put_together() == Answer("", stream={"deltas": 0, "text": ""})


def test_events_are_kept_by_message() -> None:
    assert put_together(START, delta("a"), "b", {**STOP, "text": "ab"}).text == "ab"
    assert messages(START, delta("a"), "b", {**STOP, "text": "ab"}) == [(True, 2, "ab", True, "ab")]
    assert messages(START, {"type": "delta"}, {**STOP, "answer": "x"}) == [(True, 1, "", True, "x")]
    assert messages(START, STOP) == [(True, 0, "", True, None)]


def test_the_last_of_several_messages_is_the_answer() -> None:
    events = (START, delta("I look."), STOP, {"type": "tool"}, START, delta("DONE"), STOP)
    answer = put_together(*events)
    assert answer.text == "DONE"
    assert answer.stream["others"] == 1
    assert messages(*events) == [(True, 1, "I look.", True, None), (True, 1, "DONE", True, None)]


@pytest.mark.parametrize(
    ("events", "found"),
    [
        ((delta("a"), STOP), [(False, 1, "a", True, None)]),
        ((START, delta("a")), [(True, 1, "a", False, None)]),
        ((START, STOP, delta("b")), [(True, 0, "", True, None), (False, 1, "b", False, None)]),
        ((START, STOP, "b"), [(True, 0, "", True, None), (False, 1, "b", False, None)]),
        ((START, STOP, STOP), [(True, 0, "", True, None), (False, 0, "", True, None)]),
        ((START, START, STOP), [(True, 0, "", False, None), (True, 0, "", True, None)]),
        (({"type": "thought", "text": 7},), []),
    ],
)
def test_what_is_out_of_order_is_kept_as_it_came(events: Any, found: Any) -> None:
    assert messages(*events) == found


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (7, "an object of type int"),
        (None, "an object of type NoneType"),
        (b"text", "an object of type bytes"),
        ({"text": "a"}, "a dict without a type"),
        ({"type": "delta", "text": 7}, "a delta whose text is an object of type int"),
    ],
)
def test_what_is_no_event_is_told(event: Any, says: str) -> None:
    with pytest.raises(TypeError, match=rf"the agent yielded {says}\. Yield text, or"):
        put_together(event)


def test_the_generator_is_closed_when_it_is_given_up() -> None:
    closed: list[bool] = []

    async def agent() -> AsyncIterator[Any]:
        try:
            yield "a"
            yield 7
            yield "b"
        finally:
            closed.append(True)

    with pytest.raises(TypeError):
        asyncio.run(streamed(agent()))  # type: ignore[arg-type]  # an async generator
    assert closed == [True]
