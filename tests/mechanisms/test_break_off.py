from __future__ import annotations

from typing import Any

import pytest

from forge_chaos.mechanisms.break_off import break_off
from forge_chaos.modelserver.errors import BrokenOff
from forge_chaos.nouns import Err

from .replies import Message, asks, met, says

CALLS = asks(("read_file", {"path": "a"}), ("read_file", {"path": "b"}))


def came(message: Message, after: str) -> dict[str, Any]:
    """The message as far as it came."""
    result, trial, _ = met(break_off, message, after=after)
    assert trial.fired == [{"changed": [], "after": after}]
    assert isinstance(result, Err)
    assert isinstance(result.exception, BrokenOff)
    assert isinstance(result.exception, ConnectionError)
    message = result.exception.came["choices"][0]["message"]
    return dict(message)


def test_in_the_midst_of_the_text() -> None:
    assert came(says("All is done."), "text")["content"] == "All is"


def test_inside_the_arguments_of_the_last_call() -> None:
    first, last = came(CALLS, "arguments")["tool_calls"]
    assert first == CALLS["tool_calls"][0]
    assert (last["id"], last["function"]["arguments"]) == ("call_4_1", '{"path')


def test_after_a_call() -> None:
    assert came(CALLS, "call")["tool_calls"] == CALLS["tool_calls"]


@pytest.mark.parametrize(
    ("message", "after"),
    [(CALLS, "text"), (says("DONE"), "call"), (says("DONE"), "arguments"), (says("x"), "text")],
)
def test_a_reply_without_such_a_place_goes_on_as_it_is(message: Message, after: str) -> None:
    result, trial, _ = met(break_off, message, after=after)
    assert not isinstance(result, Err)
    assert result.value["choices"][0]["message"] == message
    assert trial.fired == []
