"""cancel: the caller's own, while a call is open."""

from __future__ import annotations

from forge_chaos.mechanisms.cancel import cancel
from forge_chaos.nouns import Ok

from .env import Answers, Files, Trial, call, run


def test_in_the_middle_of_its_work_and_the_tool_acts_at_the_end_of_it() -> None:
    files = Files({})
    trial = Trial(world=files.world)
    asked = call("write_file", path="a.txt", text="1")
    result = run(cancel(asked, files.tools["write_file"], trial, when="running", seconds=4.0))
    assert result == Ok("wrote 1 characters to a.txt")
    assert (trial.slept, trial.cancels) == ([2.0, 2.0], 1)
    assert trial.fired == [{"changed": [], "when": "running"}]
    assert files.workspace.read("a.txt") == b"1"


def test_after_its_work_the_answer_is_held_back() -> None:
    trial = Trial()
    assert run(cancel(call("read_file", path="a"), Answers(Ok("x")), trial, when="late")) == Ok("x")
    assert (trial.slept, trial.cancels) == ([2.0], 1)
    assert trial.fired == [{"changed": [], "when": "late"}]


def test_a_run_that_nobody_can_cancel_is_left_alone() -> None:
    trial = Trial(cancellable=False)
    assert run(cancel(call("read_file", path="a"), Answers(Ok("x")), trial, when="late")) == Ok("x")
    assert run(cancel(call("read_file", path="a"), Answers(Ok("x")), trial, when="running")) == Ok("x")
    assert trial.fired == []
