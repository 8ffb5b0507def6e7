"""A reply taken apart: any value will do, and nothing that is put together changes what was there."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from forge_chaos.mechanisms._completion import calls_of, choice_of, put, saying
from forge_chaos.nouns import Err, Ok

CALLS = [
    {"id": f"c{n}", "type": "function", "function": {"name": "read", "arguments": "{}"}} for n in range(2)
]
MESSAGE = {"role": "assistant", "content": "Let me see.", "tool_calls": CALLS}
REPLY = {"id": "r", "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "tool_calls"}]}


def test_choice_and_calls_of_a_completion() -> None:
    assert choice_of(Ok(REPLY)) == REPLY["choices"][0]
    assert calls_of(Ok(REPLY)) == CALLS


@pytest.mark.parametrize(
    "value",
    [None, "text", {}, {"choices": None}, {"choices": []}, {"choices": ["x"]}, {"choices": [{"message": 1}]}],
)
def test_what_is_no_completion_has_none(value: Any) -> None:
    assert (choice_of(Ok(value)), calls_of(Ok(value))) == (None, [])
    assert choice_of(Err("runtime", "no")) is None


def test_calls_that_are_none_are_left_out() -> None:
    calls = [None, {"id": "x"}, {"id": "y", "function": None}, CALLS[0]]
    message = {"role": "assistant", "tool_calls": calls}
    assert calls_of(Ok({"choices": [{"message": message}]})) == [CALLS[0]]


def test_what_is_put_together_is_new() -> None:
    before = deepcopy(REPLY)
    other = saying(Ok(REPLY), {"tool_calls": put(CALLS, 1, "own", arguments="[]")}, "length")
    (choice,) = other["choices"]
    assert (other["id"], choice["finish_reason"], choice["message"]["content"]) == (
        "r",
        "length",
        "Let me see.",
    )
    assert [(c["id"], c["function"]["arguments"]) for c in choice["message"]["tool_calls"]] == [
        ("c0", "{}"),
        ("own", "[]"),
    ]
    assert saying(Ok(REPLY), {})["choices"][0] == REPLY["choices"][0]
    assert before == REPLY
