"""pretend: the usual words, and nothing done."""

from __future__ import annotations

import re

import pytest

from forge_chaos.mechanisms.pretend import pretend
from forge_chaos.nouns import Err, Ok

from .env import Answers, Files, Trial, call, run, spec

REPLIES = {
    "write_file": "wrote {length text} characters to {path}",
    "charge": "charged {id} (entry {number})",
}


def test_the_reply_is_the_tools_own_and_nothing_is_written() -> None:
    files = Files({"a.txt": "1"})
    asked = call("write_file", path="a.txt", text="twelve chars")
    real = run(Files({}).tools["write_file"](asked))
    trial = Trial("", files.world, files.world.specs["write_file"])
    assert run(pretend(asked, files.tools["write_file"], trial, replies=REPLIES)) == real
    assert files.workspace.read("a.txt") == b"1"
    assert files.ran == []
    assert trial.fired == [{"changed": [], "reply": "wrote 12 characters to a.txt"}]


def test_a_number_is_made_up_from_the_dice() -> None:
    result = run(pretend(call("charge", id="O1"), Answers(""), Trial(), replies=REPLIES))
    assert isinstance(result, Ok)
    assert re.fullmatch(r"charged O1 \(entry \d\d\)", result.value)


def test_a_wording_whose_argument_the_call_does_not_have_is_passed_over() -> None:
    asked = call("write_file", path="a.txt", content="x")
    assert run(pretend(asked, Answers(""), Trial(), replies=REPLIES)) == Ok("ok")


def test_the_newest_good_reply_is_used_again_as_a_copy() -> None:
    old: dict[str, object] = {"done": True}
    past = (Ok("older"), Ok(old), Err("io", "broken"))
    result = run(pretend(call("charge", id="O1"), Answers(""), Trial(past=past)))
    assert result == Ok({"done": True})
    assert isinstance(result, Ok)
    assert result.value is not old


@pytest.mark.parametrize("past", [(), (Ok("something else"),), (Ok({"done": True}),)])
def test_where_no_reply_is_plausible_the_call_goes_through(past: tuple[Ok, ...]) -> None:
    tool, trial = Answers("saved 1"), Trial(spec=spec("charge", returns=r"saved \d"), past=past)
    assert run(pretend(call("charge", id="O1"), tool, trial, replies=REPLIES)) == Ok("saved 1")
    assert tool.ran == 1
    assert trial.fired == []
