"""`run --attribute`: whose a failure is, from the same plan played with one half of the agent swapped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge_chaos.cli.attributing import MOST
from forge_chaos.store import Store
from tests.cli.door import Done, door, write

pytestmark = pytest.mark.slow

LOOPS = '''
import json


def call(asked):
    return asked["function"]["name"], json.loads(asked["function"]["arguments"])


async def raises(task, tools, model):
    """A loop that lets the error of a tool end the run."""
    messages = [{"role": "user", "content": task.prompt}]
    while True:
        reply = await model.complete(messages, tools.specs)
        messages.append(reply)
        if not reply.get("tool_calls"):
            return reply["content"]
        for asked in reply["tool_calls"]:
            value = await tools.call(*call(asked), id=asked["id"])
            messages.append({"role": "tool", "tool_call_id": asked["id"], "content": str(value)})


async def gives_in(task, tools, model):
    """A loop that feeds errors back, and after three of them takes the task for done instead of calling again."""
    messages = [{"role": "user", "content": task.prompt}]
    failed = 0
    while True:
        reply = await model.complete(messages, tools.specs)
        messages.append(reply)
        if not reply.get("tool_calls"):
            return reply["content"]
        if failed == 3:
            return "DONE"
        for asked in reply["tool_calls"]:
            try:
                value = await tools.call(*call(asked), id=asked["id"])
            except Exception as error:
                failed, value = failed + 1, f"{type(error).__name__}: {error}"
            messages.append({"role": "tool", "tool_call_id": asked["id"], "content": str(value)})
'''
MISSING = ("--faults", "missing_file.never@1")


def attributed(folder: Path, *words: str) -> Done:
    write(folder, {"loops.py": LOOPS})
    done = door(folder, "run", "--scenarios", "sum_orders", "--attribute", "--out", "run", *words)
    assert done.code == 1, done.err
    return done


def failure(done: Done) -> dict[str, Any]:
    (found,) = done.result["failures"]
    return dict(found)


def ends(found: dict[str, Any]) -> dict[str, tuple[str, bool]]:
    return {end["half"]: (end["outcome"], end["same"]) for end in found["swapped"]}


def test_a_bad_loop_with_the_expert_is_the_harness(tmp_path: Path) -> None:
    done = attributed(tmp_path, "--agent", "loops.py:raises", *MISSING, "--json")
    found = failure(done)
    assert (found["outcome"], found["layer"]) == ("crashed", "harness")
    assert ends(found) == {"model": ("crashed", True), "harness": ("recovered", False)}
    assert found["reason"] == "FILE_NOT_FOUND_UNRECOVERED"
    assert "tries 1 failing cell again: 1 more trial, not scored" in done.err


def test_the_reference_loop_with_a_naive_model_is_the_model(tmp_path: Path) -> None:
    found = failure(attributed(tmp_path, "--persona", "naive", *MISSING, "--json"))
    assert (found["outcome"], found["layer"]) == ("false_success", "model")
    assert ends(found) == {"model": ("recovered", False), "harness": ("false_success", True)}


def test_a_bad_loop_with_a_naive_model_is_both(tmp_path: Path) -> None:
    done = attributed(tmp_path, "--agent", "loops.py:raises", "--persona", "naive", *MISSING, "--json")
    assert failure(done)["layer"] == "both"
    assert ends(failure(done)) == {"model": ("crashed", False), "harness": ("false_success", False)}


def test_what_fails_only_together_is_the_interaction(tmp_path: Path) -> None:
    plan = ("--plan", "timeout.raises@1..4:read_file")
    done = attributed(tmp_path, "--agent", "loops.py:gives_in", "--persona", "stubborn", *plan, "--json")
    assert (failure(done)["outcome"], failure(done)["layer"]) == ("false_success", "interaction")
    assert ends(failure(done)) == {"model": ("gave_up", False), "harness": ("recovered", False)}


def test_the_further_trials_are_said_stored_nowhere_and_change_no_number(tmp_path: Path) -> None:
    words = ("--agent", "loops.py:raises", "--persona", "naive", *MISSING)
    done = attributed(tmp_path, *words)
    assert "tries 1 failing cell again: 2 more trials, not scored" in done.err
    assert (
        "Layer both (FILE_NOT_FOUND_UNRECOVERED): the expert as its model ends badly, crashed; its model in"
        in (" ".join(done.out.split()))
    )
    with Store.open(tmp_path / "run") as store:
        trials = list(store.trials())
    assert [(trial.kind, trial.layer) for trial in trials] == [("clean", "unknown"), ("fault", "both")]
    again = door(tmp_path, "report", "run", "--as", "json").result
    plain = door(tmp_path, "run", "--scenarios", "sum_orders", *words, "--out", "plain", "--json").result
    assert again["failures"][0]["layer"] == "both"
    assert plain["failures"][0]["layer"] == "unknown"
    assert [again[key] for key in ("classes", "trials", "clean", "exit")] == [
        plain[key] for key in ("classes", "trials", "clean", "exit")
    ]


def test_a_sweep_with_many_failing_cells_tries_so_many_and_says_of_how_many(tmp_path: Path) -> None:
    write(tmp_path, {"loops.py": LOOPS})
    words = ("--agent", "loops.py:raises", "--faults", "missing_file,timeout,tool_exception", "--attribute")
    done = door(tmp_path, "run", "--scenarios", "sum_orders", *words, "--json")
    layers = [found["layer"] for found in done.result["failures"]]
    assert len(layers) > MOST
    assert layers.count("unknown") == len(layers) - MOST
    assert f"tries {MOST} of {len(layers)} failing cells again: {MOST} more trials" in done.err


def test_a_run_without_failures_tries_nothing(tmp_path: Path) -> None:
    done = door(
        tmp_path, "run", "--scenarios", "sum_orders", "--attribute", "--faults", "missing_file.never@1"
    )
    assert done.code == 0
    assert "--attribute" not in done.err
