"""`fuzz`: what is printed, kept and said by the exit code."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from forge_chaos import catalog, regression
from forge_chaos.cli.fuzzing import _free, size
from forge_chaos.fuzzing.found import Failure, Key
from tests.cli import users
from tests.cli.door import ROOT, Done, door, program, typed, write

NAIVE = ("--persona", "naive", "--scenarios", "sum_orders", "--faults", "missing_file.never", "--first")
PLAN = "missing_file.never:read_file(orders.csv)"
# Charges again when the answer does not come, and does not look whether it has been charged.
TILL = """
import json, re


async def agent(task, tools):
    order = re.search(r"Charge order (\\w+)", task.prompt)[1]
    amount = json.loads(await tools.call("get_record", {"table": "orders", "id": order}))["amount"]
    for _ in range(3):
        try:
            await tools.call("charge", {"order": order, "amount": amount})
            break
        except TimeoutError:
            continue
    await tools.call("write_file", {"path": "receipt.txt", "text": f"{order} {amount}\\n"})
    return "DONE"
"""
LOOKS = """            if json.loads(await tools.call("list_ledger", {"kind": "charge", "order": order})):
                break
"""
REPAIRED = TILL.replace("            continue\n", LOOKS)
DOUBLE = ("--agent", "till.py:agent", "--scenarios", "charge_once", "--faults", "lost_reply:charge")
FOUND = "regressions/charge_once-damaged-repeated_effect.chaos.toml"


def fuzz(folder: Path, *words: str) -> Done:
    return door(folder, "fuzz", "--budget", "60", *words)


def test_the_story_of_a_failure_ends_with_the_command(tmp_path: Path) -> None:
    done = fuzz(tmp_path, *NAIVE)
    assert (done.code, done.err) == (1, "")
    lines = done.out.splitlines()
    assert (
        lines[0] == "This is a demonstration: the agent that comes with forge-chaos was searched, not yours."
    )
    assert "1. sum_orders: false_success (file_equals)" in lines
    assert f"   plan     {PLAN}" in lines
    assert any(line.startswith("   why      The goal is not reached but it said DONE.") for line in lines)
    assert any("FAULT missing_file.never on call 1" in line for line in lines)
    assert "   layer    model" in lines
    (size,) = [line for line in lines if line.startswith("   found    in trial ")]
    assert size.endswith("; nothing simpler exists among the rules that were asked for")
    assert shlex.split(done.last)[:3] == ["forge-chaos", "run", "--scenarios"]
    again = door(tmp_path, *shlex.split(done.last)[1:])
    assert again.code == 1
    assert "false_success" in again.out


def test_how_small_a_plan_is_known_to_be() -> None:
    failure = Failure(
        Key("sum_orders", "crashed"), (PLAN,), 1, "b2:1", "it raised", (3,), (), "harness", 2, 5, simpler=4
    )
    assert size(failure) == "NOT verified as minimal, after 5 trials of making it smaller"
    whole = replace(failure, minimal=True)
    assert size(whole).startswith("1-minimal, verified in 5 trials: without any one rule, ")
    assert size(replace(whole, trials=0)).startswith(
        "1-minimal, verified by trials that had been run before: "
    )
    alone = replace(whole, trials=0, simpler=0)
    assert size(alone) == "nothing simpler exists among the rules that were asked for"


def test_json_is_one_object_and_lies_in_the_runs_directory(tmp_path: Path) -> None:
    done = fuzz(tmp_path, *NAIVE, "--json")
    assert (done.code, done.err) == (1, "")
    found = done.result
    assert found["failures"][0]["plan"] == [PLAN]
    assert found["failures"][0]["key"] == {
        "scenario": "sum_orders",
        "outcome": "false_success",
        "invariant": "file_equals",
    }
    assert (found["exit"], found["agent"], found["seed"]) == (1, "reference", 1)
    assert found["trials"] <= found["budget"] == 60
    assert found["directory"] == "reports/0001-fuzz-reference"
    assert json.loads((tmp_path / found["directory"] / "fuzz.json").read_text()) == found


def test_nothing_found_is_0_and_nothing_that_can_fire_is_2(tmp_path: Path) -> None:
    words = ("--scenarios", "sum_orders", "--budget", "12", "--max-rules", "1")
    done = door(tmp_path, "fuzz", *words, "--faults", "missing_file.never")
    assert done.code == 0
    assert "no failures" in done.out
    done = door(tmp_path, "fuzz", *words, "--faults", "timeout.waits_for_input")
    assert done.code == 2
    assert done.last == "Nothing that was asked for could fire, so nothing was searched."


def test_misuse_is_told_and_makes_no_directory(tmp_path: Path) -> None:
    for words, says in (
        (("--faults", "mising_file"), "no fault 'mising_file'. Did you mean 'missing_file'?"),
        (("--target", "damage"), "no outcome to look for 'damage'. Did you mean 'damaged'?"),
        (("--target", "recovered"), "no outcome to look for 'recovered'"),
        (("--scenarios", "none_such"), "no scenario 'none_such'"),
    ):
        done = fuzz(tmp_path, *words)
        assert (done.code, done.out) == (4, "")
        assert says in done.err
    assert not (tmp_path / "reports").exists()


def test_a_directory_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"here/a": ""})
    done = fuzz(tmp_path, *NAIVE, "--out", "here")
    assert done.code == 4
    assert "here is there already" in done.err


def test_what_a_regression_file_cannot_say_is_said_by_the_command(tmp_path: Path) -> None:
    done = fuzz(tmp_path, *NAIVE, "--save", "kept", "--workspace", "disk", "--seed", "3")
    assert done.code == 1
    assert not (tmp_path / "kept").exists()
    words = shlex.split(done.last)
    assert words[words.index("--workspace") + 1] == "disk"
    assert words[words.index("--persona") + 1] == "naive"
    assert words[words.index("--seed") + 1] == "3"


@pytest.mark.slow
def test_found_saved_replayed_and_repaired(tmp_path: Path) -> None:
    write(tmp_path, {"till.py": TILL})
    done = fuzz(tmp_path, *DOUBLE, "--target", "damaged", "--first", "--save", "regressions")
    assert done.code == 1, done.err
    assert done.last == f"forge-chaos replay {FOUND}"
    kept = regression.read(tmp_path / FOUND)
    scenario = catalog.load("charge_once", 1)
    assert kept.rules == (f"lost_reply.done_then_timeout:charge({scenario.values['order']})",)
    assert (kept.agent, kept.was, kept.seed, kept.hash) == ("till.py:agent", "damaged", 1, scenario.hash)
    assert typed(tmp_path, done.last).code == 1
    write(tmp_path, {"till.py": REPAIRED})
    passed = typed(tmp_path, done.last)
    assert (passed.code, passed.err) == (0, "")
    # It looks too early for a charge that lands later: the same failure, by another variant.
    done = fuzz(tmp_path, *DOUBLE, "--target", "damaged", "--first")
    assert done.code == 1
    assert "lost_reply.done_later:charge" in done.out


@pytest.mark.slow
def test_a_file_replays_in_a_fresh_environment(tmp_path: Path) -> None:
    """No run's directory, no examples, an empty home: the file and the agent are all it takes."""
    write(tmp_path, {"found/till.py": TILL})
    done = fuzz(tmp_path / "found", *DOUBLE, "--target", "damaged", "--first", "--save", "regressions")
    assert done.code == 1
    fresh = tmp_path / "fresh"
    write(fresh, {"till.py": TILL, "kept.chaos.toml": (tmp_path / "found" / FOUND).read_text()})
    (tmp_path / "home").mkdir()
    again = subprocess.run(
        [sys.executable, "-m", "forge_chaos", "replay", "kept.chaos.toml"],
        cwd=fresh,
        env={"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert again.returncode == 1, again.stderr
    assert "damaged, NOT acceptable" in again.stdout
    assert list((tmp_path / "home").iterdir()) == []
    left = {path.name for path in fresh.iterdir()} - {"__pycache__"}
    assert left == {"till.py", "kept.chaos.toml"}


@pytest.mark.slow
def test_the_same_seed_finds_the_same_plan_in_another_process(tmp_path: Path) -> None:
    write(tmp_path, {"till.py": TILL, "loop.py": users.LOOP})
    words = ("--agent", "loop.py:agent", "--scenarios", "sum_orders", "--faults", "tool_exception,timeout")
    found = [
        program(tmp_path, "fuzz", "--budget", "90", "--seed", "4", *words, "--json").result["failures"]
        for _ in range(2)
    ]
    told = [[(each["plan"], each["at"], each["trials"]) for each in failures] for failures in found]
    assert told[0] == told[1] != []


@pytest.mark.slow
def test_state_that_an_agent_keeps_between_trials_is_flaky(tmp_path: Path) -> None:
    agent = """
failed = []


async def agent(tools):
    try:
        text = await tools.call("read_file", {"path": "orders.csv"})
    except Exception as error:
        failed.append(error)
        if len(failed) == 2:
            raise RuntimeError("the second time in this process")
        return f"FAILED: {error}"
    total = sum(int(line.split(",")[1]) for line in text.splitlines()[1:-1])
    await tools.call("write_file", {"path": "total.txt", "text": str(total)})
    return "DONE"
"""
    write(tmp_path, {"keeps.py": agent})
    words = ("--agent", "keeps.py:agent", "--scenarios", "sum_orders", "--max-rules", "1")
    faults = ("--faults", "missing_file.renamed,missing_file.never")
    # A busy machine must not pass for a hang: a new process would have forgotten the first time.
    done = fuzz(tmp_path, *words, *faults, "--target", "crashed", "--watchdog", "100")
    assert done.code == 2, done.out
    assert "FLAKY sum_orders: crashed" in done.out
    assert "Usual causes: state kept in a module from one trial to the next" in done.out


def test_help_says_what_it_is_for(tmp_path: Path) -> None:
    done = door(tmp_path, "fuzz", "--help")
    assert done.code == 0
    assert "Search plans that break an agent, as small as they get." in done.out


def test_a_regression_file_is_never_lost_to_another_plan(tmp_path: Path) -> None:
    plan = ("timeout:read_file(a)",)
    one = Failure(Key("s", "damaged", "x"), plan, 1, "b2:0", "", (), (), "harness", 1, 1)
    path = _free(tmp_path, one)
    regression.write(regression.Regression(path, one.key.scenario, one.plan, 1))
    assert _free(tmp_path, one) == path, "the same plan has the same file"
    other = replace(one, plan=("timeout@2:read_file(a)",))
    assert _free(tmp_path, other).name == path.name.replace(".chaos", "-2.chaos")
    path.write_text("not TOML")
    assert _free(tmp_path, one) != path, "what cannot be read is nobody's to overwrite"
