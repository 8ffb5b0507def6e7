"""cut: the head of the answer, with or without a mark."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_chaos.mechanisms.cut import cut
from forge_chaos.nouns import Err, Ok

from .env import Answers, Trial, call, run

READ = call("read_file", path="a.txt")


@pytest.mark.parametrize(
    "answer", ['{"items": [1, 2, 3]}', "{}", "[]", "[[1], [2]]\n", {"items": [1, 2]}, [1, 2]]
)
def test_cut_json_is_a_head_and_no_json(answer: object) -> None:
    trial = Trial()
    result = run(cut(READ, Answers(answer), trial, of="json"))
    whole = answer if isinstance(answer, str) else json.dumps(answer)
    assert isinstance(result, Ok)
    assert whole.startswith(result.value)
    with pytest.raises(json.JSONDecodeError):
        json.loads(result.value)
    assert len(trial.fired) == 1


@pytest.mark.parametrize(
    "answer", [Ok("id,amount\n1,2\n"), Ok("12"), Ok(""), Ok(None), Ok(3), Err("io", "broken")]
)
def test_what_is_no_json_object_or_list_is_not_cut_as_one(answer: Ok | Err) -> None:
    trial = Trial()
    assert run(cut(READ, Answers(answer), trial, of="json")) is answer
    assert trial.fired == []


def test_a_mark_tells_how_much_is_shown() -> None:
    trial = Trial(" [{shown} of {total}]")
    assert run(cut(READ, Answers("0123456789"), trial, share=0.5, marked=True)) == Ok("01234 [5 of 10]")
    assert trial.fired == [{"changed": [], "shown": 5, "total": 10}]


def test_without_a_mark_the_text_of_the_variant_is_not_used() -> None:
    assert run(cut(READ, Answers("0123456789"), Trial("never"), share=0.5)) == Ok("01234")


def test_lines_are_cut_inside_the_first_field_of_a_line() -> None:
    result = run(cut(READ, Answers("id,amount\n1000,10\n2000,20\n3000,30\n"), Trial(), of="lines", share=0.6))
    assert result == Ok("id,amount\n1000,10\n20")


@pytest.mark.parametrize("answer", ["", "one line", "one line\n", "\n\n"])
def test_one_line_is_not_cut_as_lines(answer: str) -> None:
    trial = Trial()
    assert run(cut(READ, Answers(answer), trial, of="lines")) == Ok(answer)
    assert trial.fired == []


def test_text_of_one_character_is_left_alone() -> None:
    trial = Trial("[cut]")
    assert run(cut(READ, Answers("x"), trial, marked=True)) == Ok("x")
    assert trial.fired == []


@given(st.text(max_size=60), st.floats(0.05, 0.95), st.sampled_from(["json", "text", "lines"]))
def test_fired_exactly_when_something_is_lost_and_then_a_head_is_left(
    text: str, share: float, of: str
) -> None:
    trial = Trial()
    result = run(cut(READ, Answers(text), trial, of=of, share=share))  # type: ignore[arg-type]  # drawn
    assert isinstance(result, Ok)
    if trial.fired:
        assert text.strip().startswith(result.value.strip()[:1])
        assert result.value in text
        assert len(result.value) < len(text)
        assert result.value
    else:
        assert result.value == text
