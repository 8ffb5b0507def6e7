"""What the words of a cell's process come to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from forge_chaos.bench import Setup
from forge_chaos.history import environment, playing
from forge_chaos.history.environment import Wanted
from forge_chaos.history.playing import Task
from forge_chaos.regression import Regression
from tests.history.shop import RULE, kept

CONTROL = {
    "part": "control",
    "passed": True,
    "outcome": "not_reached",
    "why": "",
    "lines": [],
    "release": "1.0",
}
PLAN = {**CONTROL, "part": "plan", "outcome": "gave_up", "acceptable": True, "stale": [], "why": "it said so"}


def task(folder: Path, version: str = "1.0", index: str = "", seconds: float = 120.0) -> Task:
    path = kept(folder)
    file = Regression(path, "sum_orders", (RULE,), 1, "agents/summing.py:agent")
    setup = Setup(agent=file.agent, home=str(folder), watchdog=300.0)
    return Task(file, setup, Wanted("tillkit", version, (), "2025-12-01T00:00:00Z", index), "asked", seconds)


@pytest.mark.parametrize(
    ("parts", "code", "kind", "why"),
    [
        ([CONTROL, PLAN], 0, "good", "it said so"),
        ([CONTROL, {**PLAN, "outcome": "crashed", "acceptable": False}], 0, "bad", "it said so"),
        ([CONTROL, {**PLAN, "outcome": "invalid", "acceptable": False}], 0, "broken", "it said so"),
        ([CONTROL, {**PLAN, "outcome": "unfair", "acceptable": False}], 0, "unfair", "it said so"),
        ([CONTROL, {**PLAN, "stale": ["timeout@9"]}], 0, "not fired", "timeout@9 did not fire."),
        ([CONTROL, {**PLAN, "release": "1.1"}], 0, "broken", "1.1 was played instead."),
        ([{**CONTROL, "passed": False, "why": "it raised"}], 0, "control failed", "not_reached: it raised"),
        (
            [{**CONTROL, "passed": False, "why": f"{playing.NOTHING}silent: no"}],
            0,
            "control failed",
            "silent: no",
        ),
        ([CONTROL], None, "hung", "No end within 120 seconds, after a control that passed"),
        ([], None, "control failed", "no end within 120 seconds, without any fault"),
        ([{"part": "refused", "why": "no such adapter"}], 0, "control failed", "no such adapter"),
        ([CONTROL, {"part": "refused", "why": "no such adapter"}], 0, "control failed", "no such adapter"),
        ([CONTROL, {"part": "broken", "why": "KeyError: 1"}], 0, "broken", "KeyError: 1"),
        ([], -9, "broken", "ended with -9 and said nothing"),
        ([CONTROL], -11, "broken", "ended with -11 after the control"),
    ],
)
def test_the_kind_of_a_cell_and_why(
    parts: list[Mapping[str, Any]], code: int | None, kind: str, why: str, tmp_path: Path
) -> None:
    found = playing._found(
        {str(part["part"]): part for part in parts}, code, "its last words", task(tmp_path)
    )
    assert found["kind"] == kind
    assert why in found["why"]
    assert playing.NOTHING not in found["why"]
    if kind == "broken" and "outcome" not in found and code != 0:
        assert found["lines"] == ("its last words",)


def test_no_folder_of_the_machine_stays_in_what_is_said(tmp_path: Path) -> None:
    mine = task(tmp_path)
    clean = playing._cleaner(mine, tmp_path / "cache" / "kit")
    text = f"{tmp_path}/cache/kit/lib/a.py and {tmp_path}/agents/b.py and {mine.wanted.ours}/c.py"
    assert clean(text) == "ENVIRONMENT/lib/a.py and HERE/agents/b.py and forge_chaos/c.py"
    assert clean("/dev/shm/forge-chaos-12-ab3_d/orders.csv") == "WORKSPACE/orders.csv"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "word", "line"),
    [
        ("1.0", "good (gave_up)", "FAULT missing_file.never on call 1"),
        ("1.5", "bad (false_success)", "finished: answered: 'DONE'"),
        ("2.0", "control failed", ""),
    ],
)
def test_a_release_is_played_in_its_environment(
    version: str, word: str, line: str, till_index: str, cache: Path, tmp_path: Path
) -> None:
    mine = task(tmp_path, version, till_index)
    cell = playing.played(mine, environment.made(mine.wanted, cache, Event()), Event())
    assert cell.word == word
    assert line in "\n".join(cell.lines)
    assert str(tmp_path) not in cell.why
    assert str(cache) not in cell.why


@pytest.mark.slow
def test_one_that_hangs_its_process_is_killed(till_index: str, cache: Path, tmp_path: Path) -> None:
    mine = task(tmp_path, "2.1", till_index, seconds=25.0)  # less than the watchdog of a trial, set below
    mine = Task(
        mine.file, Setup(mine.setup.agent, mine.setup.home, watchdog=300.0), mine.wanted, "asked", 25.0
    )
    cell = playing.played(mine, environment.made(mine.wanted, cache, Event()), Event())
    assert (cell.kind, cell.convicts) == ("hung", True)
