from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from forge_chaos.nouns import Task
from forge_chaos.specimens import good
from forge_chaos.specimens.table import GOOD, Specimen
from tests.conformance import table
from tests.specimens.playing import calls, play, times

EVER = "tool_exception.connection@1..:read_file(orders.csv)"


@pytest.mark.parametrize("specimen", GOOD, ids=lambda specimen: specimen.name)
@pytest.mark.parametrize("name", table.NAMES)
def test_it_does_every_task_without_a_fault(specimen: Specimen, name: str) -> None:
    trial = play(specimen.function, name)
    assert (trial.outcome, trial.judgement.acceptable) == ("not_reached", True), str(trial)


def test_backs_off_waits_longer_each_time_and_then_lets_it_be() -> None:
    at = times(play(good.backs_off, "sum_orders", EVER), "read_file")
    assert [later - earlier for earlier, later in pairwise(at)] == [1.0, 2.0]


def test_backs_off_leaves_alone_what_will_not_pass() -> None:
    gone = "missing_file.never@1..:read_file(orders.csv)"
    assert len(calls(play(good.backs_off, "sum_orders", gone), "read_file")) == 1


def test_persists_tries_more_often_than_the_expert_does() -> None:
    refused = "blocked_command.bare@1..:write_file(total.txt)"
    assert len(calls(play(good.persists, "sum_orders", refused), "write_file")) == 3
    assert len(calls(table.play("sum_orders", refused), "write_file")) == 1


def test_polls_with_pauses() -> None:
    at = times(play(good.polls, "poll_job"), "poll_job")
    assert at[1] - at[0] == 5.0
    assert len(at) == 4


def test_pages_puts_the_pages_together() -> None:
    trial = play(good.pages, "sum_orders")
    windows = [called.args for called in calls(trial, "read_file") if called.target == "orders.csv"]
    assert [window["offset"] for window in windows] == [0, good.PAGE]
    assert trial.judgement.acceptable


def test_other_way_takes_other_tools_than_the_solution() -> None:
    used = {called.tool for called in calls(play(good.other_way, "charge_once"))}
    assert "list_records" in used
    assert "get_record" not in used


class Model:
    """Asks for one command, then says what came of it."""

    def __init__(self, command: str) -> None:
        self._command = command

    async def complete(self, messages: list[Mapping[str, Any]], tools: Any = ()) -> dict[str, Any]:
        if messages[-1]["role"] == "tool":
            return {"role": "assistant", "content": messages[-1]["content"]}
        function = {"name": "run_command", "arguments": json.dumps({"command": self._command})}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": function}],
        }


class Tools:
    """One tool, which says what it was given."""

    specs = ({"type": "function", "function": {"name": "run_command", "parameters": {}}},)

    def limit(self, name: str) -> float:
        return 30.0

    async def call(self, name: str, args: Mapping[str, Any], *, id: str | None = None) -> str:
        return f"ran {args['command']}"


@pytest.mark.parametrize(("command", "said"), [("sudo ls /root", "PermissionError"), ("ls", "ran ls")])
def test_refuses_a_dangerous_command_without_trying_it(command: str, said: str) -> None:
    task = Task("go", 5)
    assert asyncio.run(good.refuses(task, Tools(), Model(command))).startswith(said)
