"""expire: a timeout whose text holds what had come."""

from __future__ import annotations

from forge_chaos.mechanisms.expire import expire
from forge_chaos.nouns import Err, Ok

from .env import Answers, Trial, call, run, spec

RUN = call("run_command", command="make test")


def test_the_error_carries_the_first_part_of_the_real_output() -> None:
    tool, trial = Answers("0123456789"), Trial("timed out:", spec=spec("run_command", limit=10.0))
    assert run(expire(RUN, tool, trial, share=0.4)) == Err("timeout", "timed out:\n0123")
    assert tool.ran == 1
    assert trial.fired == [{"changed": [], "shown": 4}]
    assert 0 < trial.slept[0] < 10.0  # a caller who allows the tool its limit sees the tool's own end


def test_output_that_cannot_be_cut_goes_through_untouched() -> None:
    for given in (Ok(""), Ok("x"), Ok(None), Ok(b"bytes"), Err("io", "Input/output error")):
        trial = Trial("timed out:")
        assert run(expire(RUN, Answers(given), trial)) is given
        assert trial.fired == []
        assert trial.slept == []


def test_a_prompt_waits_in_vain_and_the_tool_does_nothing() -> None:
    tool, trial = Answers("done"), Trial("timed out:")
    result = run(expire(RUN, tool, trial, shows="prompt", prompt="Password: "))
    assert result == Err("timeout", "timed out:\nPassword: ")
    assert tool.ran == 0
    assert len(trial.fired) == 1
