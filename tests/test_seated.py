"""An agent in its seat in this process."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from forge_chaos import Scenario, seated
from forge_chaos.errors import Misuse
from forge_chaos.events import Called, find
from forge_chaos.notation import parse
from forge_chaos.nouns import Plan
from tests.cli.door import write
from tests.fuzzing.searched import RAISES, SUMS, good, lying


def plan(*texts: str, seed: int = 1) -> Plan:
    return Plan(tuple(map(parse, texts)), seed)


def test_a_plan_is_played_and_judged() -> None:
    trial = seated.play(SUMS, lying, plan(RAISES))
    assert (trial.judgement.outcome, trial.judgement.acceptable) == ("false_success", False)
    assert (trial.rules, trial.kind, trial.faults) == ((RAISES,), "fault", ("tool_exception",))
    assert seated.play(SUMS, good, plan(RAISES)).judgement.outcome == "recovered"


def test_nobody_is_our_own_agent() -> None:
    assert seated.play(SUMS, None, plan(RAISES)).judgement.outcome == "recovered"


def test_an_agent_keeps_its_seat() -> None:
    assert seated.seated(SUMS, good) is seated.seated(SUMS, good)
    assert seated.seated(SUMS, good) is not seated.seated(SUMS, lying)
    for scenario in ("read_version", "edit_port", "charge_once", "three_reads") * 5:
        seated.seated(scenario, None)
        seated.seated(scenario, "reference")
    assert len(seated._seats) <= seated.MOST


def test_where_an_event_loop_runs_it_plays_apart() -> None:
    async def played() -> str:
        return seated.play(SUMS, good, plan(RAISES)).judgement.outcome

    assert asyncio.run(played()) == "recovered"


def test_the_clean_trial_is_the_agents_own() -> None:
    calls = [called.tool for _, called in find(seated.clean(SUMS, good, 1), Called)]
    assert calls == ["read_file", "write_file"]
    assert len(list(find(seated.clean(SUMS, None, 1), Called))) > 2


def test_a_scenario_that_was_made_in_python() -> None:
    def asks(trace: Any) -> bool:
        return bool(list(find(trace, Called)))

    async def agent(tools: Any) -> str:
        try:
            await tools.call("read_file", {"path": "a"})
        except Exception:
            return "DONE"
        await tools.call("write_file", {"path": "b", "text": "b"})
        return "DONE"

    copy = Scenario(
        "copy",
        "Write b.",
        files={"a": "a"},
        full=[{"grader": "file_exists", "path": "b"}, asks],
        tools=["read_file", "write_file"],
    )
    trial = seated.play(copy, agent, plan("tool_exception.runtime:read_file(a)"))
    assert trial.judgement.outcome == "false_success"


def test_what_cannot_be_played_is_misuse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def empty(tools: Any) -> str:
        return "DONE"

    with pytest.raises(Misuse, match="scenario 'sum_orders': the agent fails it without any fault"):
        seated.play(SUMS, empty, plan(RAISES))
    with pytest.raises(Misuse, match="no scenario 'sums'"):
        seated.play("sums", good, plan(RAISES))


def test_scenarios_of_the_settings_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        tmp_path,
        {
            "pyproject.toml": '[tool.forge-chaos]\nscenarios_dir = "own"\n',
            "own/tiny/scenario.toml": 'prompt = "Write a."\ntools = ["write_file"]\noutputs = ["a"]\n'
            '[[full]]\ngrader = "file_exists"\npath = "a"\n',
            "own/tiny/solution.py": "async def solve(task, tools):\n"
            '    await tools.write_file(path="a", text="a")\n    return "DONE"\n',
        },
    )
    monkeypatch.chdir(tmp_path)
    assert seated.play("tiny", None, plan("tool_exception.runtime")).judgement.outcome == "recovered"
