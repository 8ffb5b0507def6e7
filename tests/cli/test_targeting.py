"""`run --targets`: several commands, in several languages, on the same tasks, in one table."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forge_chaos import settings
from forge_chaos.cli.running import COMMAND_WATCHDOG, Request, setup_of
from forge_chaos.cli.targeting import NOTHING, Demand, cell, table
from forge_chaos.errors import Misuse
from forge_chaos.verdict import Facts, Judgement, Trial
from tests.cli.door import Done, door, program
from tests.languages import AGENTS, grid

pytestmark = pytest.mark.slow
MODEL = grid.HERE / "model.sh"
GOOD = Facts(goal="full", claim="done")
FAULT = "missing_file.never@1:read_file(payments.json)"


def written(folder: Path, targets: Sequence[Any], tasks: Sequence[Any]) -> tuple[str, ...]:
    (folder / "targets.json").write_text(json.dumps(targets))
    (folder / "tasks.json").write_text(json.dumps(tasks))
    return ("run", "--tasks", "tasks.json", "--targets", "targets.json")


@pytest.mark.skipif(shutil.which("curl") is None, reason="the shell script calls its tools with curl")
def test_agents_in_several_languages_stand_in_one_table(tmp_path: Path) -> None:
    targets = [
        {"name": "shell", "command": [str(AGENTS / "payments.sh")]},
        {"name": "python", "command": ["sh", str(MODEL), sys.executable, str(AGENTS / "loop.py")]},
    ]
    written(tmp_path, targets, [grid.task(name) for name in ("refunds", "payments")])
    files = {"tasks": tmp_path / "tasks.json", "targets": tmp_path / "targets.json"}
    done = grid.played(tmp_path, "--json", fault=FAULT, **files)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert found["grid"] == {
        "refunds": {"shell": "FAIL 0/1", "python": "PASS 1/1"},
        "payments": {"shell": "PASS 2/2", "python": "PASS 2/2"},
    }
    assert {run["classes"][0]["fired"] for run in found["targets"].values()} == {1}
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["python", "shell"]


def test_the_tasks_of_the_table_are_the_scenarios_that_their_models_play() -> None:
    assert json.loads(grid.TASKS.read_text()) == [grid.task(name) for name in grid.SCENARIOS]
    assert [row["name"] for row in json.loads(grid.TARGETS.read_text())] == ["node", "sh", "python"]


def test_an_agent_that_fails_is_a_failed_sample_and_the_batch_goes_on(tmp_path: Path) -> None:
    targets = [
        {"name": "broken", "command": ["sh", "-c", "echo no such key >&2; exit 3"]},
        {"name": "own tools", "command": ["sh", "-c", 'cat "$0"', "said.json"]},
    ]
    said = {"output": "refunded, DONE", "tool_calls": [{"name": "refund", "args": {"id": "O1"}}]}
    (tmp_path / "said.json").write_text(json.dumps(said))
    refund = {"name": "refund one", "input": "Refund O1.", "expected": "DONE", "expected_tools": ["refund"]}
    words = written(tmp_path, targets, [refund, {"name": "tone", "input": "Be kind.", "rubric": "kind"}])
    done = door(tmp_path, *words, "--faults", "missing_file")
    assert done.code == 1, done.err
    assert "CommandFailed: exit code 3: no such key" in " ".join(done.out.split())
    assert done.out.splitlines()[-4:] == [
        "task        broken    own tools",
        "-------------------------------",
        "refund one  FAIL 0/1  PASS 1/1",
        "tone        -         -",
    ]


def test_what_cannot_be_started_is_misuse_before_anything_runs(tmp_path: Path) -> None:
    targets = [{"name": "good", "command": ["true"]}, {"name": "none", "command": ["./none"]}]
    words = written(tmp_path, targets, [grid.task("payments")])
    done = door(tmp_path, *words)
    assert (done.code, done.out) == (4, "")
    assert "'./none' is not in" in done.err
    assert not (tmp_path / "reports").exists()


def test_an_agent_beside_targets_is_misuse(tmp_path: Path) -> None:
    done: Done = door(tmp_path, *written(tmp_path, [], []), "--agent", "reference")
    assert done.code == 4
    assert "leave --agent and --adapter out" in done.err


def test_how_a_cell_is_read() -> None:
    clean = Trial("t", "s", "clean", (), 1, 0, (), GOOD, Judgement("not_reached", False, False, ""))
    assert cell([]) == NOTHING
    assert cell([clean]) == "PASS 1/1"
    bad = replace(clean, facts=replace(GOOD, goal="wrong", claim="failed"))
    assert cell([clean, clean, bad]) == "FAIL 2/3"
    assert cell([clean, clean, bad], Demand(clean=0.6)) == "PASS 2/3"
    assert table({"a": {"x": "PASS 1/1"}}) == ["task  x", "--------------", "a     PASS 1/1"]


def test_a_command_has_more_patience_and_a_folder_on_disk() -> None:
    stated = settings.read(Path.cwd())
    assert setup_of(Request(agent="cmd: true"), stated).watchdog == COMMAND_WATCHDOG
    assert setup_of(Request(agent="reference"), stated).watchdog < COMMAND_WATCHDOG
    with pytest.raises(Misuse, match="works in a folder on disk"):
        setup_of(Request(agent="cmd: true", workspace="memory"), stated)


def test_shims_are_for_commands_alone() -> None:
    stated = settings.read(Path.cwd())
    assert setup_of(Request(agent="cmd: true", shims=True), stated).shims
    for agent in (None, "reference", "framework:langgraph"):
        with pytest.raises(Misuse, match="for agents that are commands"):
            setup_of(Request(agent=agent, shims=True), stated)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="shims need Linux")
def test_a_program_past_the_gate_is_said_in_the_run(tmp_path: Path) -> None:
    (tmp_path / "agent.sh").write_text(
        "/bin/cat orders.csv > copy\n"
        "awk -F, '$2 ~ /^[0-9]+$/ && $1 != \"rows\" { sum += $2 } END { print sum }' copy > total.txt\n"
        "rm copy || true\n"
        'echo \'{"output": "DONE"}\'\n'
    )
    words = ("run", "--agent", "cmd: sh agent.sh", "--scenarios", "sum_orders", "--shims", "--json")
    plan = 'blocked_command.bare@1:run_command("rm *"),missing_file.never@1:read_file(orders.csv)'
    done = program(tmp_path, *words, "--plan", plan)
    assert done.result["unreached"] == {"/bin/cat": 2}
    fired = {row["fault"]: row["fired"] for row in done.result["classes"]}
    assert fired == {"blocked_command": 1, "missing_file": 0}
    assert done.code == 2
