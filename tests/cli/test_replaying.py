"""`replay`: a stored trial, and regression files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from forge_chaos import catalog
from forge_chaos.store import Store
from tests.cli import users
from tests.cli.door import Done, door, typed, write
from tests.languages import AGENTS

GONE = "missing_file.never@1..:read_file(orders.csv)"
SAME = "The trace is equal to the stored one."


def regression(folder: Path, *more: str, rules: str = GONE) -> Path:
    lines = ["version = 1", 'scenario = "sum_orders"', f"rules = ['{rules}']", *more]
    return write(folder, {"a.chaos.toml": "\n".join(lines)})


def replay(folder: Path, *words: str) -> Done:
    return door(folder, "replay", "a.chaos.toml", *words)


# Stored trials.


def failed(folder: Path, *words: str) -> str:
    """The trial of a failed run, as RUN_DIR:TRIAL."""
    done = door(
        folder, "run", "--scenarios", "sum_orders", "--faults", GONE, "--persona", "naive", "--json", *words
    )
    assert done.code == 1
    command: str = done.result["failures"][0]["replay"]
    return command.split()[-1]


def test_a_failed_trial_fails_again(tmp_path: Path) -> None:
    done = door(tmp_path, "replay", failed(tmp_path))
    assert (done.code, done.err) == (1, "")
    lines = done.out.splitlines()
    assert lines[0] == f"sum_orders under {GONE}, seed 1"
    assert lines[1].startswith("false_success, NOT acceptable (bar: wrong): ")
    assert any("FAULT missing_file.never on call 1" in line for line in lines)
    assert lines[-1] == SAME


def test_a_good_and_a_clean_one_pass_again(tmp_path: Path) -> None:
    done = door(tmp_path, "run", "--scenarios", "sum_orders", "--faults", GONE, "--json")
    assert done.code == 0
    with Store.open(tmp_path / done.result["run"]) as store:
        ids = {trial.kind: trial.id for trial in store.trials()}
    for kind in ("clean", "fault"):
        again = door(tmp_path, "replay", f"{done.result['run']}:{ids[kind]}")
        assert (again.code, again.out.splitlines()[-1]) == (0, SAME)


def test_another_agent_may_take_its_place(tmp_path: Path) -> None:
    write(tmp_path, {"loop.py": users.LOOP, "sums.py": users.SUMS})
    what = failed(tmp_path)
    done = door(tmp_path, "replay", what, "--agent", "sums.py:honest")
    assert done.code == 0
    assert "The trace differs from the stored one, first here:\n  stored  [" in done.out
    assert done.out.count("\n  now     [") == 1


def test_a_trace_that_was_not_kept_is_not_compared(tmp_path: Path) -> None:
    words = ("--scenarios", "sum_orders", "--faults", GONE, "--keep-traces", "0", "--json")
    run = door(tmp_path, "run", *words).result["run"]
    with Store.open(tmp_path / run) as store:
        (id,) = [trial.id for trial in store.trials() if trial.kind == "fault"]
    done = door(tmp_path, "replay", f"{run}:{id}")
    assert (done.code, done.last) == (0, "The stored trace was not kept, so nothing is compared.")


def test_a_scenario_that_has_changed_is_named(tmp_path: Path) -> None:
    folder = catalog.builtin("scenarios") / "sum_orders"
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            write(tmp_path, {f"own/sum_orders/{path.relative_to(folder)}": path.read_text()})
    what = failed(tmp_path, "--scenarios-dir", "own")
    path = tmp_path / "own/sum_orders/scenario.toml"
    path.write_text(path.read_text().replace("Add up", "Please add up"))
    done = door(tmp_path, "replay", what)
    assert done.code == 1
    assert (
        "forge-chaos: scenario 'sum_orders' has changed since the run in reports/0001-reference" in done.err
    )
    assert "The trace differs from the stored one" in done.out


@pytest.mark.slow
def test_the_times_of_an_agent_in_real_time_are_not_compared(tmp_path: Path) -> None:
    agent = f"cmd: {sys.executable} {AGENTS / 'loop.py'}"
    words = ("--scenarios", "sum_orders", "--faults", GONE, "--agent", agent, "--json")
    run = door(tmp_path, "run", *words).result["run"]
    with Store.open(tmp_path / run) as store:
        (id,) = [trial.id for trial in store.trials() if trial.kind == "fault"]
    done = door(tmp_path, "replay", f"{run}:{id}")
    assert (done.code, done.last) == (
        0,
        "The trace is equal to the stored one, but for the times, which are real.",
    )


def test_a_trial_that_is_not_there(tmp_path: Path) -> None:
    failed(tmp_path)
    done = door(tmp_path, "replay", "reports/0001-reference:t1")
    assert (done.code, done.out) == (4, "")
    assert "no trial 't1' in reports/0001-reference" in done.err


# Regression files.


def test_an_acceptable_end_passes(tmp_path: Path) -> None:
    done = replay(regression(tmp_path))
    assert (done.code, done.err) == (0, "")
    assert "gave_up, acceptable (bar: wrong)" in done.out


def test_an_unacceptable_end_fails(tmp_path: Path) -> None:
    write(tmp_path, {"sums.py": users.SUMS})
    done = replay(regression(tmp_path, 'agent = "sums.py:lying"'))
    assert (done.code, done.err) == (1, "")
    assert "false_success, NOT acceptable" in done.out


@pytest.mark.slow
def test_the_command_line_says_the_agent_before_the_file_and_the_file_before_the_settings(
    tmp_path: Path,
) -> None:
    settings = '[tool.forge-chaos]\nagent = "sums.py:lying"\n'
    write(tmp_path, {"sums.py": users.SUMS, "pyproject.toml": settings})
    assert replay(regression(tmp_path)).code == 1
    assert replay(regression(tmp_path, 'agent = "sums.py:honest"')).code == 0
    assert replay(tmp_path, "--agent", "sums.py:raising").code == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "faults"),
    [
        ("missing_file.never@9:read_file(orders.csv)", "missing_file.never:read_file"),
        ("timeout@1:read_file(other.csv)", "timeout:read_file"),
        ("timeout@1:run_command(make)", "timeout"),
        (f"{GONE}', 'timeout.late@7", "timeout.late"),
    ],
)
def test_a_rule_that_does_not_fire_is_stale(rules: str, faults: str, tmp_path: Path) -> None:
    done = replay(regression(tmp_path, "seed = 4", rules=rules))
    assert (done.code, done.err) == (1, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("STALE: ")
    assert lines[0].endswith(" did not fire in sum_orders, seed 4.")
    assert "acceptable" not in done.out  # what it came to without the fault says nothing
    assert done.last == f"forge-chaos run --scenarios sum_orders --faults {faults} --seed 4"
    assert typed(tmp_path, done.last).code == 0


@pytest.mark.slow
def test_the_search_for_the_new_place_names_all_that_it_needs(tmp_path: Path) -> None:
    write(tmp_path, {"my agents.py": users.SUMS})
    fault = (catalog.builtin("faults") / "missing_file.toml").read_text()
    write(tmp_path, {"my faults/gone.toml": fault, "own/.keep": ""})
    regression(tmp_path, rules="gone.never@9:read_file(orders.csv)")
    words = ("--agent", "my agents.py:honest", "--faults-dir", "my faults", "--scenarios-dir", "own")
    done = replay(tmp_path, *words)
    assert done.code == 1
    assert "--agent 'my agents.py:honest'" in done.last
    found = typed(tmp_path, done.last)
    assert found.code == 1
    assert "gave_up" in found.out


def test_the_scenarios_hash_is_a_warning_and_needs_not_be_there(tmp_path: Path) -> None:
    now = catalog.load("sum_orders", 1).hash
    assert replay(regression(tmp_path, f'hash = "{now}"')).err == ""
    done = replay(regression(tmp_path, 'hash = "b2:1"'))
    assert done.code == 0
    assert done.err == (
        f"forge-chaos: scenario 'sum_orders' has changed since a.chaos.toml was written (b2:1 then, {now} now).\n"
    )
    stale = replay(regression(tmp_path, 'hash = "b2:1"', rules="timeout@99"))
    assert stale.code == 1
    assert "did not fire in sum_orders, seed 1; the scenario has changed since." in stale.out


def test_what_lies_beside_the_file_is_found_from_anywhere(tmp_path: Path) -> None:
    folder = catalog.builtin("scenarios") / "sum_orders"
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            write(tmp_path, {f"kept/sum_orders/{path.relative_to(folder)}": path.read_text()})
    toml = tmp_path / "kept/sum_orders/scenario.toml"
    toml.write_text(toml.read_text().replace("Add up", "Please add up"))
    write(tmp_path / "kept", {"agents/sums.py": users.SUMS})
    regression(tmp_path / "kept", 'agent = "agents/sums.py:honest"', 'hash = "b2:1"')
    write(tmp_path, {"elsewhere/.keep": ""})
    done = door(tmp_path / "elsewhere", "replay", "../kept/a.chaos.toml")
    assert (done.code, done.out.count("gave_up, acceptable")) == (0, 1)
    ours = catalog.load("sum_orders", 1).hash
    assert f"{ours} now" not in done.err
    assert "has changed" in done.err


@pytest.mark.slow
def test_the_search_for_a_new_place_finds_an_agent_beside_the_file(tmp_path: Path) -> None:
    write(tmp_path / "kept", {"agents/sums.py": users.SUMS})
    regression(tmp_path / "kept", 'agent = "agents/sums.py:honest"', rules="missing_file.never@9:read_file")
    done = door(tmp_path, "replay", "kept/a.chaos.toml")
    assert done.code == 1
    place, _, line = done.last.partition(" && ")
    assert place == f"cd {tmp_path / 'kept'}"
    assert "gave_up" in typed(tmp_path / "kept", line).out


def test_the_file_says_the_model(tmp_path: Path) -> None:
    write(tmp_path, {"sums.py": users.SUMS})
    done = replay(regression(tmp_path, 'agent = "sums.py:honest"', 'model = "own"'))
    assert done.code == 0
    done = replay(regression(tmp_path, 'model = "own"'))
    assert (done.code, done.out) == (4, "")
    assert "has no model of its own" in done.err


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = regression(tmp_path) / "a.chaos.toml"
    path.write_text(path.read_text().replace("version = 1", "version = 2"))
    done = replay(tmp_path)
    assert (done.code, done.out) == (4, "")
    assert "a.chaos.toml:1: version 2 was written by a newer forge-chaos" in done.err
