"""empty: nothing where an answer was."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from forge_chaos.mechanisms.empty import empty
from forge_chaos.nouns import Err, Ok

from .env import Answers, Trial, call, run

READ = call("read_file", path="a.csv")


@pytest.mark.parametrize(("into", "value"), [("text", ""), ("none", None), ("list", []), ("object", {})])
def test_the_answer_is_empty_and_the_tool_has_run(
    into: Literal["text", "none", "list", "object"], value: Any
) -> None:
    tool, trial = Answers("id\n1\n"), Trial()
    assert run(empty(READ, tool, trial, into=into)) == Ok(value)
    assert tool.ran == 1
    assert trial.fired == [{"changed": [], "into": into}]


def test_no_two_agents_are_handed_the_same_list() -> None:
    one, two = (run(empty(READ, Answers("x"), Trial(), into="list")) for _ in range(2))
    assert isinstance(one, Ok)
    assert isinstance(two, Ok)
    assert one.value is not two.value


@pytest.mark.parametrize("answer", ["", None, [], {}, Err("io", "Input/output error")])
def test_an_error_or_an_answer_that_is_empty_anyway_is_left_alone(answer: Any) -> None:
    tool, trial = Answers(answer), Trial()
    assert run(empty(READ, tool, trial)) == tool.result
    assert trial.fired == []


def test_zero_is_an_answer() -> None:
    assert run(empty(READ, Answers(0), Trial())) == Ok("")
