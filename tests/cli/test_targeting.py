"""`run --targets`: several commands, in several languages, on the same tasks, in one table."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forge_chaos import catalog, settings
from forge_chaos.cli.running import COMMAND_WATCHDOG, Request, setup_of
from forge_chaos.cli.targeting import NOTHING, Demand, cell, table
from forge_chaos.errors import Misuse
from forge_chaos.verdict import Facts, Judgement, Trial
from tests.cli.door import Done, door, program
from tests.cli.test_serving import serving
from tests.languages import AGENTS, NODE, there

pytestmark = pytest.mark.slow
SCENARIOS = {"refunds": "refund_batch", "payments": "dedupe_payments"}
MISSING = "invoices/O1002.json"
TOOLS = {"refunds": ["read_file", "append_file", "write_file"], "payments": ["read_file", "write_file"]}
# Its model is the one that plays this task: the address stands under the task's name.
LOOP = ["sh", "-c", 'OPENAI_BASE_URL=$(eval echo "\\$MODEL_$EVAL_NAME") exec "$0" "$1"']
GOOD = Facts(goal="full", claim="done")
FAULT = "missing_file.never@1:read_file(payments.json)"


def written(folder: Path, targets: Sequence[Any], tasks: Sequence[Any]) -> tuple[str, ...]:
    (folder / "targets.json").write_text(json.dumps(targets))
    (folder / "tasks.json").write_text(json.dumps(tasks))
    return ("run", "--tasks", "tasks.json", "--targets", "targets.json")


def task(name: str) -> dict[str, Any]:
    """A scenario of ours as the file of another system has it: there, one invoice is missing from the start."""
    scenario = catalog.load(SCENARIOS[name], 1)
    return {
        "name": name,
        "input": scenario.prompt,
        "expected_tools": TOOLS[name],
        "rubric": "",
        "expected": "DONE",
        "context": [],
        "files": {path: data.decode() for path, data in scenario.files.items() if path != MISSING},
        "meta": {"from": scenario.name},
    }


@pytest.mark.skipif(shutil.which("curl") is None, reason="the shell script calls its tools with curl")
@pytest.mark.parametrize(
    "node",
    [
        pytest.param(False, id="two"),
        pytest.param(
            True,
            id="node",
            marks=pytest.mark.skipif(not there(), reason="python -m tests.languages makes it"),
        ),
    ],
)
def test_agents_in_several_languages_stand_in_one_table(tmp_path: Path, node: bool) -> None:
    with ExitStack() as open:
        models = {
            f"MODEL_{name}": open.enter_context(serving(tmp_path, "--scenario", scenario)).url + "/v1"
            for name, scenario in SCENARIOS.items()
        }
        env = {**models, "OPENAI_API_KEY": "any"}
        targets = [
            {"name": "shell", "command": [str(AGENTS / "payments.sh")]},
            {"name": "python", "command": [*LOOP, sys.executable, str(AGENTS / "loop.py")], "env": env},
        ]
        if node:
            targets.append({"name": "node", "command": [*LOOP, "node", str(NODE / "loop.mjs")], "env": env})
        words = written(tmp_path, targets, [task(name) for name in SCENARIOS])
        done = program(tmp_path, *words, "--faults", FAULT, "--json", "--out", "runs")
    assert done.code == 1, done.err
    loops = {"python": "PASS 1/1", **({"node": "PASS 1/1"} if node else {})}
    assert done.result["grid"] == {
        "refunds": {"shell": "FAIL 0/1", **loops},
        "payments": {"shell": "PASS 2/2", **dict.fromkeys(loops, "PASS 2/2")},
    }
    fired = {name: run["classes"][0]["fired"] for name, run in done.result["targets"].items()}
    assert set(fired.values()) == {1}
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == sorted(fired)


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
    words = written(tmp_path, targets, [task("payments")])
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
