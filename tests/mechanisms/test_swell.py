"""swell: the true answer, and far too much behind it."""

from __future__ import annotations

from typing import Any

import pytest

from forge_chaos.mechanisms.swell import swell
from forge_chaos.nouns import Err, Ok

from .env import Answers, Trial, call, run

READ = call("read_file", path="a.csv")


def test_many_lines_follow_the_true_answer() -> None:
    trial = Trial()
    result = run(swell(READ, Answers("id\n1"), trial, size=200_000))
    assert isinstance(result, Ok)
    assert len(result.value) == 200_000
    assert result.value.startswith("id\n1\nDEBUG 0000 ")
    assert max(map(len, result.value.splitlines())) < 80
    assert trial.fired == [{"changed": [], "total": 200_000}]


def test_or_one_line_without_end() -> None:
    result = run(swell(READ, Answers("id\n1"), Trial(), into="line", size=200_000))
    assert isinstance(result, Ok)
    assert len(result.value) == 200_000
    assert [line[:2] for line in result.value.split("\n")] == ["id", "1 "]


def test_an_object_is_given_as_text() -> None:
    result = run(swell(READ, Answers({"a": 1}), Trial(), size=1_000))
    assert isinstance(result, Ok)
    assert result.value.startswith('{"a": 1}\nDEBUG')


@pytest.mark.parametrize("answer", ["", None, 5, Err("io", "x"), "x" * 1_000])
def test_what_is_no_text_or_long_enough_is_left_alone(answer: Any) -> None:
    tool, trial = Answers(answer), Trial()
    assert run(swell(READ, tool, trial, size=1_000)) == tool.result
    assert trial.fired == []


def test_who_asks_for_a_part_gets_it() -> None:
    trial = Trial()
    assert run(swell(call("read_file", path="a.csv", limit=20), Answers("id\n1"), trial)) == Ok("id\n1")
    assert trial.fired == []
