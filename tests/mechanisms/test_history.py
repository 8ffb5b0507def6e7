"""history: what the model is shown, and the agent's own messages never changed."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any, Literal

import pytest

from forge_chaos.mechanisms.history import history
from forge_chaos.nouns import Call, Err, Ok

from .env import Trial, run

Keep = Literal["newest", "no_task", "unpaired", "summary"]
SYSTEM = {"role": "system", "content": "be careful"}
TASK = {"role": "user", "content": "sum orders.csv"}


def asks(*ids: str) -> dict[str, Any]:
    calls = [
        {"id": id, "type": "function", "function": {"name": "read_file", "arguments": "{}"}} for id in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def told(id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": f"result of {id}"}


LONG = [SYSTEM, TASK, asks("1"), told("1"), asks("2", "3"), told("2"), told("3"), asks("4"), told("4")]


class Model:
    """Answers, and keeps what it was shown."""

    def __init__(self) -> None:
        self.shown: list[dict[str, Any]] = []
        self.args: dict[str, Any] = {}

    async def __call__(self, call: Call) -> Ok | Err:
        self.args = dict(call.args)
        self.shown = list(call.args["messages"])
        return Ok("reply")


def shown(messages: list[dict[str, Any]], keep: Keep, newest: int = 2) -> tuple[list[dict[str, Any]], Trial]:
    model, trial = Model(), Trial()
    own, before = messages, deepcopy(messages)
    asked = Call(1, "model", {"messages": own, "tools": [{"type": "function"}]})
    assert run(history(asked, model, trial, keep=keep, newest=newest)) == Ok("reply")
    assert own == before
    assert asked.args["messages"] is own
    assert model.args["tools"] == [{"type": "function"}]
    return model.shown, trial


def paired(messages: list[dict[str, Any]]) -> bool:
    asked = [call["id"] for m in messages for call in m.get("tool_calls", ())]
    return asked == [m["tool_call_id"] for m in messages if m["role"] == "tool"]


def test_newest_keeps_the_rules_the_task_and_the_newest_pair() -> None:
    messages, trial = shown(LONG, "newest")
    assert messages == [SYSTEM, TASK, asks("4"), told("4")]
    assert trial.fired == [{"changed": [], "before": 9, "after": 4}]


@pytest.mark.parametrize("newest", range(1, 9))
@pytest.mark.parametrize("keep", ["newest", "no_task", "summary"])
def test_calls_and_results_stay_together_and_something_is_left(newest: int, keep: Keep) -> None:
    messages, _ = shown(LONG, keep, newest)
    assert paired(messages)
    assert messages[-1] == told("4")
    assert messages[0] == SYSTEM


def test_a_batch_at_the_end_is_kept_whole() -> None:
    messages, trial = shown(LONG[:7], "newest", 1)
    assert messages == [SYSTEM, TASK, asks("2", "3"), told("2"), told("3")]
    assert len(trial.fired) == 1


def test_the_task_is_dropped_even_where_nothing_else_is() -> None:
    assert shown(LONG, "no_task")[0] == [SYSTEM, asks("4"), told("4")]
    assert shown(LONG[:4], "no_task")[0] == [SYSTEM, asks("1"), told("1")]


def test_unpaired_leaves_results_without_their_call() -> None:
    messages, _ = shown(LONG[:7], "unpaired")
    assert messages == [SYSTEM, TASK, told("2"), told("3")]
    assert not paired(messages)


def test_the_summary_is_longer_than_what_it_replaces() -> None:
    messages, _ = shown(LONG, "summary")
    assert messages[:2] == [SYSTEM, TASK]
    assert messages[3:] == [asks("4"), told("4")]
    assert messages[2]["role"] == "user"
    assert len(messages[2]["content"]) > len(json.dumps(LONG[2:7]))
    assert "result of 2" in messages[2]["content"]


@pytest.mark.parametrize("keep", ["newest", "no_task", "unpaired", "summary"])
@pytest.mark.parametrize("messages", [[], [SYSTEM], [SYSTEM, TASK], [TASK], [SYSTEM, asks("1"), told("1")]])
def test_a_history_that_it_would_not_change_is_passed_on(messages: list[dict[str, Any]], keep: Keep) -> None:
    given, trial = shown(messages, keep)
    assert given == messages
    assert trial.fired == []


@pytest.mark.parametrize("messages", [None, "text", ["text"], [TASK, None]])
def test_a_request_without_a_list_of_messages_is_passed_on(messages: object) -> None:
    trial = Trial()

    async def provider(call: Call) -> Ok | Err:
        return Ok(call.args["messages"])

    assert run(history(Call(1, "model", {"messages": messages}), provider, trial)) == Ok(messages)
    assert trial.fired == []


def test_a_short_history_is_not_cut() -> None:
    for keep in ("newest", "summary"):
        given, trial = shown(LONG[:4], keep)
        assert given == LONG[:4]
        assert trial.fired == []


def test_the_user_s_last_message_stays_where_there_are_several() -> None:
    later = {"role": "user", "content": "now write it down"}
    two_turns = [*LONG[:4], later, *LONG[4:]]
    cut, trial = shown(two_turns, "newest")
    assert cut == [SYSTEM, TASK, later, *LONG[-2:]]
    assert trial.fired
    told_again, _ = shown(two_turns, "summary")
    assert (told_again[3], told_again[4:]) == (later, LONG[-2:])
    assert "now write it down" not in told_again[2]["content"]
