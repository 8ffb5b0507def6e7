"""disconnect: the session is lost for some calls, until it is opened again, or for good."""

from __future__ import annotations

import asyncio

from forge_chaos import natural
from forge_chaos.mechanisms.disconnect import disconnect
from forge_chaos.nouns import Err, Ok

from .env import Answers, Trial, call, run

READ = call("read_file", path="a.txt")
PIPE = Err("pipe", "Broken pipe")


def test_so_many_calls_fail_and_then_it_works_again() -> None:
    tool, trial = Answers("1"), Trial("Broken pipe")
    told = [run(disconnect(READ, tool, trial, calls=2)) for _ in range(4)]
    assert told == [PIPE, PIPE, Ok("1"), Ok("1")]
    assert tool.ran == 2
    assert trial.fired == [{"changed": [], "of": "tool"}] * 2
    assert isinstance(natural.exception(PIPE), BrokenPipeError)


def test_the_first_call_may_die_with_the_other_side_and_the_next_fails_at_once() -> None:
    tool, trial = Answers("1"), Trial("closed")

    async def first_and_second() -> tuple[bool, object]:
        open_ = asyncio.ensure_future(disconnect(READ, tool, trial, hangs=1, code="connection"))
        _, waiting = await asyncio.wait({open_}, timeout=0.01)
        open_.cancel()
        return bool(waiting), await disconnect(READ, tool, trial, hangs=1, code="connection")

    assert asyncio.run(first_and_second()) == (True, Err("connection", "closed"))
    assert (tool.ran, len(trial.fired)) == (0, 2)


def test_it_is_opened_again_by_a_tool_that_runs_after_the_loss() -> None:
    trial = Trial("Broken pipe", runs={"reconnect": 1})
    for _ in range(5):
        assert run(disconnect(READ, Answers("1"), trial, reopened_by="reconnect")) == PIPE
    trial.runs["reconnect"] = 2
    assert run(disconnect(READ, Answers("1"), trial, reopened_by="reconnect")) == Ok("1")


def test_without_either_it_stays_lost() -> None:
    trial = Trial("Broken pipe")
    assert [run(disconnect(READ, Answers("1"), trial)) for _ in range(9)] == [PIPE] * 9


def test_with_the_world_every_tool_is_lost() -> None:
    trial = Trial("container is not running")
    lost = Err("connection", "container is not running")
    assert run(disconnect(READ, Answers("1"), trial, of="world", code="connection")) == lost
    assert trial.downs == [lost]
    assert trial.handed == []


def test_a_world_that_heals_comes_back() -> None:
    trial = Trial("x", heal=10.0)
    run(disconnect(READ, Answers("1"), trial, of="world", code="connection"))
    asyncio.run(trial.pass_time(10.0))
    assert trial.downs[-1] is None


def test_any_type_can_be_named() -> None:
    result = run(
        disconnect(
            READ, Answers("1"), Trial("lost"), code="reset", type="builtins:ConnectionResetError", errno=104
        )
    )
    assert isinstance(result, Err)
    live = natural.exception(result)
    assert isinstance(live, ConnectionResetError)
    assert live.errno == 104
