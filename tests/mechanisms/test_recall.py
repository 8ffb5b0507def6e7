"""recall: an old answer to a question that was asked before."""

from __future__ import annotations

from forge_chaos.mechanisms.recall import recall
from forge_chaos.nouns import Err, Ok

from .env import Answers, Trial, call, run

READ = call("read_file", path="a.txt")


def test_the_oldest_good_answer_comes_again_and_the_tool_runs() -> None:
    tool, trial = Answers("3"), Trial(earlier=(Err("io", "x"), Ok("1"), Ok("2")))
    assert run(recall(READ, tool, trial)) == Ok("1")
    assert tool.ran == 1
    assert trial.fired == [{"changed": []}]


def test_an_answer_that_is_still_true_or_was_never_given_is_left_alone() -> None:
    for earlier in ((Ok("3"),), (), (Err("io", "x"),)):
        trial = Trial(earlier=earlier)
        assert run(recall(READ, Answers("3"), trial)) == Ok("3")
        assert trial.fired == []


def test_an_error_is_hidden_by_the_old_answer() -> None:
    gone = Answers(Err("not_found", "No such file or directory"))
    assert run(recall(READ, gone, Trial(earlier=(Ok("1"),)))) == Ok("1")
