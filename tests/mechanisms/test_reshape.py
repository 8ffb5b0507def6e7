"""reshape: JSON of another shape, and the tool's own objects never changed."""

from __future__ import annotations

import datetime
import json
import math
from copy import deepcopy
from random import Random
from typing import Any, Literal

import pytest

from forge_chaos.mechanisms.reshape import reshape
from forge_chaos.nouns import Err, Ok

from .env import Answers, Trial, call, run

READ = call("read_file", path="a.json")
Into = Literal["wrong_type", "missing_field", "nan", "date", "extra_field"]
INTO: tuple[Into, ...] = ("wrong_type", "missing_field", "nan", "date", "extra_field")


def reshaped(answer: Any, into: Into, seed: int = 1) -> Any:
    trial = Trial(rng=Random(seed))
    result = run(reshape(READ, Answers(answer), trial, into=into))
    assert isinstance(result, Ok)
    assert trial.fired == [{"changed": [], "into": into}]
    return result.value


def test_wrong_type_wraps_an_object_in_a_list_and_a_list_in_an_object() -> None:
    assert json.loads(reshaped('{"a": 1}', "wrong_type")) == [{"a": 1}]
    assert json.loads(reshaped("[1, 2]", "wrong_type")) == {"data": [1, 2]}
    assert reshaped({"a": 1}, "wrong_type") == [{"a": 1}]


def test_text_stays_text_in_its_layout() -> None:
    assert reshaped('{"a": "é"}', "wrong_type") == '[{"a": "é"}]'
    assert reshaped('{\n  "a": 1\n}\n', "wrong_type") == '[\n  {\n    "a": 1\n  }\n]'


def test_extra_field_adds_one_to_the_object_or_to_every_row_and_leaves_the_rest() -> None:
    more = json.loads(reshaped('{"a": 1}', "extra_field"))
    assert (more.pop("a"), len(more)) == (1, 1)
    rows = reshaped([{"a": 1}, {"a": 2}], "extra_field")
    assert [(row["a"], len(row)) for row in rows] == [(1, 2), (2, 2)]


def test_missing_field_takes_one_field_from_the_object_or_from_every_row() -> None:
    gone = {
        frozenset(json.loads(reshaped('{"a": 1, "b": 2, "c": 3}', "missing_field", seed)))
        for seed in range(20)
    }
    assert gone == {frozenset("ab"), frozenset("bc"), frozenset("ac")}
    rows = reshaped([{"a": 1, "b": 2}, {"a": 3, "b": 4}], "missing_field")
    assert rows in ([{"a": 1}, {"a": 3}], [{"b": 2}, {"b": 4}])


def test_nan_and_date_are_live_values_that_json_cannot_hold() -> None:
    with_nan = reshaped('{"a": 1}', "nan")
    assert with_nan["a"] == 1
    assert math.isnan(with_nan["score"])
    with pytest.raises(ValueError, match="not JSON compliant"):
        json.dumps(with_nan, allow_nan=False)
    with_date = reshaped([{"a": 1}, {"a": 2}], "date")
    assert isinstance(with_date[0]["updated_at"], datetime.date)
    assert with_date[1] == {"a": 2}
    with pytest.raises(TypeError, match="not JSON serializable"):
        json.dumps(with_date)


@pytest.mark.parametrize("into", INTO)
def test_the_tools_own_object_is_never_changed(into: Into) -> None:
    own = {"a": {"b": [1, 2]}, "c": 3}
    before = deepcopy(own)
    reshaped(own, into)
    assert own == before


@pytest.mark.parametrize("into", INTO)
@pytest.mark.parametrize(
    "answer", [Ok("plain"), Ok("12"), Ok('{"a":'), Ok(None), Ok({1, 2}), Err("io", "broken")]
)
def test_an_answer_without_such_json_goes_through_untouched(answer: Ok | Err, into: Into) -> None:
    trial = Trial()
    assert run(reshape(READ, Answers(answer), trial, into=into)) is answer
    assert trial.fired == []


@pytest.mark.parametrize("into", ["missing_field", "nan", "date"])
@pytest.mark.parametrize("answer", ["[]", "{}", "[1, 2]"])
def test_without_an_object_there_is_no_field_to_change(answer: str, into: Into) -> None:
    trial = Trial()
    assert run(reshape(READ, Answers(answer), trial, into=into)) == Ok(answer)
    assert trial.fired == []
