"""The control comes first, and the plan only where it passed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from forge_chaos.bench import Setup
from forge_chaos.errors import Misuse
from forge_chaos.history.play import play
from tests.cli import users
from tests.cli.door import ROOT, environment, write
from tests.history.shop import RULE

IDLE = """

async def idle(task):
    return "DONE"
"""


def ask(folder: Path, attribute: str, rule: str = RULE, **more: Any) -> dict[str, Any]:
    write(folder, {"sums.py": users.SUMS + IDLE})
    setup = Setup(agent=f"sums.py:{attribute}", home=str(folder))
    asked = {
        "setup": setup.to_json(),
        "scenario": "sum_orders",
        "rules": [rule],
        "seed": 1,
        "package": "pytest",
    }
    return asked | more


def told(asked: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    said: list[Mapping[str, Any]] = []
    play(asked, said.append)
    return said


@pytest.mark.slow
def test_a_good_and_a_bad_end_with_what_proves_it(tmp_path: Path) -> None:
    control, plan = told(ask(tmp_path, "honest"))
    assert (control["part"], control["passed"], control["release"]) == ("control", True, pytest.__version__)
    assert (plan["part"], plan["outcome"], plan["acceptable"]) == ("plan", "gave_up", True)
    _, plan = told(ask(tmp_path, "lying"))
    assert (plan["outcome"], plan["acceptable"], plan["stale"]) == ("false_success", False, [])
    assert 2 <= len(plan["lines"]) <= 6
    assert "FAULT missing_file.never on call 1" in plan["lines"][0]


@pytest.mark.slow
def test_the_plan_is_not_played_where_the_control_fails(tmp_path: Path) -> None:
    (control,) = told(ask(tmp_path, "idle"))
    assert (control["part"], control["passed"]) == ("control", False)


@pytest.mark.slow
def test_a_rule_that_did_not_fire_is_named(tmp_path: Path) -> None:
    rule = "missing_file.never@9:read_file(orders.csv)"
    _, plan = told(ask(tmp_path, "honest", rule))
    assert plan["stale"] == [rule]


@pytest.mark.slow
def test_what_cannot_be_played_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="has no attribute 'onest'"):
        told(ask(tmp_path, "onest"))


@pytest.mark.slow
def test_the_program_says_it_in_lines_of_json_whatever_the_agent_prints(tmp_path: Path) -> None:
    asked = [ask(tmp_path, "lying"), ask(tmp_path, "onest"), {}]
    parts = []
    for each in asked:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "forge_chaos.history.play", json.dumps(each)],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
            cwd=ROOT,
            env=environment(),
        )
        parts.append([json.loads(line)["part"] for line in done.stdout.splitlines()])
    assert parts == [["control", "plan"], ["refused"], ["broken"]]
