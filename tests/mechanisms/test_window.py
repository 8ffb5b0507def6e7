from __future__ import annotations

from forge_chaos.mechanisms.window import window
from forge_chaos.nouns import Call, Err, Ok

from .env import Trial, run


async def sent(call: Call) -> Ok | Err:
    return Ok(dict(call.args))


def test_a_later_message_is_sent_with_a_window() -> None:
    trial, asked = Trial(), Call(2, "turn", {"window": None})
    assert run(window(asked, sent, trial, newest=3)) == Ok({"window": 3})
    assert trial.fired == [{"changed": [], "newest": 3}]
    assert asked.args == {"window": None}


def test_a_first_message_has_no_session_behind_it() -> None:
    trial = Trial()
    assert run(window(Call(1, "turn", {"window": None}), sent, trial)) == Ok({"window": None})
    assert trial.fired == []
