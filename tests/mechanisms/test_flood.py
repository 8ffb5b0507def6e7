from __future__ import annotations

import pytest

from forge_chaos.mechanisms.flood import flood
from forge_chaos.nouns import Err, Ok

from .replies import asks, finish, met, says, worded

READ = ("read_file", {"path": "a.csv"})
LIST = ("list_all", {"deep": True})


@pytest.mark.parametrize("times", [2, 8])
def test_the_first_call_comes_so_often_and_the_others_once(times: int) -> None:
    result, trial, ran = met(flood, asks(READ, LIST), times=times)
    assert (ran, trial.fired) == (1, [{"changed": [], "times": times}])
    found = worded(result)
    assert [(name, arguments) for _, name, arguments in found] == [
        *[("read_file", '{"path": "a.csv"}')] * times,
        ("list_all", '{"deep": true}'),
    ]


def test_each_call_has_an_id_of_its_own_and_those_that_the_model_gave_stay() -> None:
    ids = [id for id, _, _ in worded(met(flood, asks(READ, LIST), times=5)[0])]
    assert len(set(ids)) == 6
    assert (ids[0], ids[-1]) == ("c0", "c1")


def test_text_beside_the_calls_stays() -> None:
    result, _, _ = met(flood, asks(READ, content="Let me look."), times=3)
    assert isinstance(result, Ok)
    assert result.value["choices"][0]["message"]["content"] == "Let me look."
    assert finish(result) == "tool_calls"


@pytest.mark.parametrize("message", [says("DONE"), Err("runtime", "refused")])
def test_a_reply_without_a_call_goes_on_as_it_is(message: object) -> None:
    result, trial, _ = met(flood, message, times=3)  # type: ignore[arg-type]  # both are what `met` takes
    assert trial.fired == []
    assert result == message or finish(result) == "stop"
