from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from forge_chaos.mechanisms.misword import HUGE, How, misword
from forge_chaos.nouns import Call, Err

from .env import Answers, Trial, run
from .replies import TOOLS, asks, finish, met, reply, says, worded

READ = ("read_file", {"path": "a.csv"})
ALL = get_args(How)


def spoilt(how: str, *calls: tuple[str, dict[str, Any]]) -> list[tuple[str, str, str]]:
    result, trial, ran = met(misword, asks(*(calls or (READ,))), how=how)
    assert ran == 1
    assert trial.fired == [{"changed": [], "how": how}]
    return worded(result)


@pytest.mark.parametrize(
    ("how", "arguments"),
    [
        ("broken", "{path: a.csv}"),
        ("list", "[]"),
        ("null", "null"),
        ("number", "7"),
        ("wrong_type", '{"path": {"value": "a.csv"}}'),
        ("missing", "{}"),
        ("cut", '{"path":'),
        ("lone_surrogate", r'{"path": "a.csv\ud83d"}'),
    ],
)
def test_arguments_are_worded_badly_under_an_id_of_its_own(how: str, arguments: str) -> None:
    assert spoilt(how) == [("call_4_0", "read_file", arguments)]


def test_arguments_of_fifty_kilobytes_hold_none_that_the_tool_takes() -> None:
    ((_, _, text),) = spoilt("huge")
    assert HUGE < len(text) < HUGE + 1_000
    assert set(json.loads(text)) == {"arguments", "thought"}


def test_a_tool_that_there_is_not() -> None:
    assert spoilt("unknown_tool") == [("call_4_0", "file_read", '{"path": "a.csv"}')]
    assert spoilt("unknown_tool", ("search", {}))[0][1] == "search_tool"


def test_a_tool_that_there_is_not_has_another_name_the_next_time() -> None:
    trial = Trial()
    asked = Call(4, "model", {"messages": [], "tools": TOOLS})

    def names(tool: str, times: int) -> list[str]:
        trial.kept.clear()
        came = Answers(reply(asks((tool, {}))))
        return [worded(run(misword(asked, came, trial, how="unknown_tool")))[0][1] for _ in range(times)]

    assert names("read_file", 4) == ["file_read", "read_file_tool", "do_read_file", "file_read"]
    assert names("search", 3) == ["search_tool", "do_search", "search_tool"]


def test_a_name_that_a_tool_has_is_no_misspelling() -> None:
    taken = ("search", "search_tool", "do_search")
    tools = [{"type": "function", "function": {"name": name}} for name in taken]
    asked = Call(4, "model", {"messages": [], "tools": tools})
    (call,) = worded(run(misword(asked, Answers(reply(asks(("search", {})))), Trial(), how="unknown_tool")))
    assert call[1] not in taken


def test_of_a_batch_one_call_is_hit_and_the_others_stay_as_they_are() -> None:
    calls = (READ, ("read_file", {"path": "b.csv"}))
    assert [id for id, _, _ in spoilt("list", *calls)] == ["call_4_0", "c1"]
    assert [id for id, _, _ in spoilt("cut", *calls)] == ["c0", "call_4_1"]  # the end of the reply


def test_what_needs_no_argument_is_passed_over_by_what_leaves_one_out() -> None:
    assert [id for id, _, _ in spoilt("missing", ("list_all", {"deep": True}), READ)] == ["c0", "call_4_1"]
    assert spoilt("missing", ("read_file", {"limit": 3, "path": "a"})) == [
        ("call_4_0", "read_file", '{"limit": 3}')
    ]
    assert spoilt("missing", ("not_described", {"a": 1, "b": 2})) == [
        ("call_4_0", "not_described", '{"b": 2}')
    ]


@pytest.mark.parametrize(
    ("how", "ids"),
    [("equal_ids", ["call_0"] * 2), ("counted_ids", ["call_0", "call_1"]), ("empty_ids", [""] * 2)],
)
def test_ids_that_name_nothing(how: str, ids: list[str]) -> None:
    found = spoilt(how, READ, READ)
    assert [id for id, _, _ in found] == ids
    assert {arguments for _, _, arguments in found} == {'{"path": "a.csv"}'}


def test_the_stop_reason() -> None:
    def of(how: str) -> str:
        return finish(met(misword, asks(READ), how=how)[0])

    assert {how: of(how) for how in ("cut", "contradicted", "list")} == {
        "cut": "length",
        "contradicted": "stop",
        "list": "tool_calls",
    }
    assert spoilt("contradicted") == [("c0", "read_file", '{"path": "a.csv"}')]


@pytest.mark.parametrize("how", ALL)
def test_a_reply_without_a_call_goes_on_as_it_is(how: How) -> None:
    for message in (says("DONE"), Err("runtime", "refused")):
        result, trial, _ = met(misword, message, how=how)
        assert trial.fired == []
        assert result == message or finish(result) == "stop"


@pytest.mark.parametrize(
    ("how", "call"), [("equal_ids", READ), ("missing", ("list_all", {})), ("wrong_type", ("list_all", {}))]
)
def test_a_call_for_which_it_cannot_be_done_goes_on_as_it_is(how: How, call: Any) -> None:
    result, trial, _ = met(misword, asks(call), how=how)
    assert trial.fired == []
    assert [id for id, _, _ in worded(result)] == ["c0"]


def test_arguments_that_are_broken_already_are_no_trouble() -> None:
    message = asks(READ)
    message["tool_calls"][0]["function"]["arguments"] = "["
    for how in ALL:
        met(misword, message, how=how)
