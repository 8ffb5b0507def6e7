"""fail: an exception instead of the call."""

from __future__ import annotations

import asyncio

import pytest

from forge_chaos import natural
from forge_chaos.mechanisms.fail import fail
from forge_chaos.nouns import Err

from .env import Answers, Trial, call, run

READ = call("read_file", path="a.txt")


@pytest.mark.parametrize(
    ("code", "text", "type_", "shown"),
    [
        ("timeout", "", TimeoutError, ""),
        (
            "timeout",
            "'read_file' timed out after 30 seconds",
            TimeoutError,
            "'read_file' timed out after 30 seconds",
        ),
        ("io", "Input/output error", OSError, "[Errno 5] Input/output error: 'a.txt'"),
        ("key", "result", KeyError, "'result'"),
        ("value", "bad", ValueError, "bad"),
        ("cancelled", "", asyncio.CancelledError, ""),
    ],
)
def test_the_agent_gets_the_natural_exception_and_the_tool_is_not_run(
    code: str, text: str, type_: type[BaseException], shown: str
) -> None:
    tool, trial = Answers("x"), Trial(text)
    result = run(fail(READ, tool, trial, code=code))
    assert isinstance(result, Err)
    live = natural.exception(result, READ.target)
    assert (type(live), str(live)) == (type_, shown)
    assert tool.ran == 0
    assert trial.fired == [{"changed": [], "code": code}]


def test_any_type_can_be_named() -> None:
    result = run(fail(READ, Answers("x"), Trial("lost"), code="runtime", type="builtins:MemoryError"))
    assert isinstance(result, Err)
    live = natural.exception(result, "a.txt")
    assert isinstance(live, MemoryError)
    assert str(live) == "lost"


def test_a_numbered_error_of_the_network_names_no_file() -> None:
    trial = Trial("Connection refused")
    result = run(
        fail(READ, Answers("x"), trial, code="connection", type="builtins:ConnectionRefusedError", errno=111)
    )
    assert isinstance(result, Err)
    live = natural.exception(result, "a.txt")
    assert isinstance(live, ConnectionRefusedError)
    assert str(live) == "[Errno 111] Connection refused"
    assert result.code == "connection"
