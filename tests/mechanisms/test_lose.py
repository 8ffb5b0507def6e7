"""lose: an error for a change that happened, did not happen, or happens later."""

from __future__ import annotations

import asyncio

from forge_chaos import natural
from forge_chaos.mechanisms.lose import lose
from forge_chaos.nouns import Err, Ok

from .env import Answers, Files, Trial, call, run, spec

WRITE = call("write_file", path="a.txt", text="2")


def test_done_then_an_error_has_changed_the_world() -> None:
    files = Files({"a.txt": "1"})
    trial = Trial("timed out", files.world)
    assert run(lose(WRITE, files.tools["write_file"], trial)) == Err("timeout", "timed out")
    assert files.workspace.read("a.txt") == b"2"
    assert trial.fired == [{"changed": [], "effect": "done"}]


def test_not_done_has_changed_nothing() -> None:
    files = Files({"a.txt": "1"})
    trial = Trial("timed out", files.world)
    assert run(lose(WRITE, files.tools["write_file"], trial, effect="not_done")) == Err(
        "timeout", "timed out"
    )
    assert files.workspace.read("a.txt") == b"1"
    assert files.ran == []
    assert len(trial.fired) == 1


def test_later_lands_within_the_settle_time_with_the_arguments_of_the_call() -> None:
    async def trial() -> None:
        files = Files({"a.txt": "1"})
        env = Trial("timed out", files.world, spec=spec("write_file", settle=60.0))
        asked = call("write_file", path="a.txt", text="2")
        assert await lose(asked, files.tools["write_file"], env, effect="later") == Err(
            "timeout", "timed out"
        )
        asked.args["text"] = "reused by the caller"
        await env.pass_time(29.0)
        assert files.workspace.read("a.txt") == b"1"
        await env.pass_time(1.0)
        assert files.workspace.read("a.txt") == b"2"
        assert files.ran == ["write_file"]
        assert env.fired == [{"changed": [], "effect": "later"}]

    asyncio.run(trial())


def test_a_tool_that_states_no_settle_time_is_never_late() -> None:
    for stated in (None, spec("charge")):
        tool, trial = Answers("charged"), Trial("timed out", spec=stated)
        assert run(lose(call("charge", id="O1"), tool, trial, effect="later")) == Ok("charged")
        assert tool.ran == 1
        assert trial.fired == []
        assert trial.handed == []


def test_a_call_that_fails_by_itself_lost_no_reply() -> None:
    failed, trial = Err("value", "no such order"), Trial("timed out")
    assert run(lose(call("charge", id="O9"), Answers(failed), trial)) is failed
    assert trial.fired == []


def test_a_reset_is_the_socket_error_and_names_no_file() -> None:
    trial = Trial("Connection reset by peer")
    result = run(
        lose(WRITE, Answers("written"), trial, code="reset", type="builtins:ConnectionResetError", errno=104)
    )
    assert isinstance(result, Err)
    live = natural.exception(result, "a.txt")
    assert isinstance(live, ConnectionResetError)
    assert str(live) == "[Errno 104] Connection reset by peer"
