"""A whole search: scenarios in turn, failures replayed in a fresh process, exit codes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forge_chaos.bench import Setup
from forge_chaos.events import Injected
from forge_chaos.fuzzing.run import EVIDENCE, EXAMPLES, fuzz, layer
from tests.fuzzing.searched import RAISES, crashing_of, good, lying, made, searched

ONE = "tool_exception.runtime"


def test_what_is_found_is_replayed_and_told(tmp_path: Path) -> None:
    result = searched(lying, tmp_path, ONE, budget=20)
    (failure,) = result.failures
    assert (result.exit, failure.replayed, failure.differs) == (1, True, None)
    assert (failure.failed, failure.runs, failure.layer) == (1, 1, "harness")
    assert failure.why.startswith("The goal is not reached but it said DONE.")
    assert failure.hash.startswith("b2:")
    assert 0 < len(failure.lines) <= EVIDENCE
    assert any(f"FAULT {ONE} on call 1" in line for line in failure.lines)


def test_every_trial_is_kept_in_the_runs_directory(tmp_path: Path) -> None:
    result = searched(lying, tmp_path, ONE, budget=20)
    lines = [json.loads(line) for line in (tmp_path / EXAMPLES).read_text().splitlines()]
    assert len(lines) == result.trials
    assert lines[0] == {
        "scenario": "sum_orders",
        "plan": [],
        "outcome": "not_reached",
        "acceptable": True,
        "repetition": 0,
    }
    assert [RAISES] in [line["plan"] for line in lines if line["outcome"] == "false_success"]


def test_an_agent_without_a_fault_in_it_ends_in_0(tmp_path: Path) -> None:
    result = searched(good, tmp_path, ONE, budget=20, max_rules=1)
    assert (result.exit, result.failures, result.flaky) == (0, (), ())
    assert result.fired > 0


def test_nothing_that_can_fire_ends_in_2(tmp_path: Path) -> None:
    result = searched(good, tmp_path, "timeout.waits_for_input", budget=20)
    assert (result.exit, result.fired, result.cells) == (2, 0, 0)
    assert [skipped.why for skipped in result.skipped] == [
        "none of the faults asked for has a place in its clean trial"
    ]


def test_an_agent_that_fails_every_scenario_clean_ends_in_2(tmp_path: Path) -> None:
    async def empty(tools: Any) -> str:
        return "DONE"

    result = searched(empty, tmp_path, ONE, budget=20)
    assert (result.exit, result.trials) == (2, 1)
    assert "the agent fails it without any fault" in result.skipped[0].why


def test_the_budget_is_shared_by_the_scenarios(tmp_path: Path) -> None:
    async def agent(task: Any, tools: Any, model: Any) -> str:
        from forge_chaos import reference

        return await reference.agent(task, tools, model)

    result = searched(agent, tmp_path, ONE, "sum_orders,read_version", budget=20)
    assert result.trials == 20
    assert result.exit == 0


def test_the_search_ends_with_as_many_failures_as_were_asked_for(tmp_path: Path) -> None:
    result = searched(lying, tmp_path, ONE, budget=40, most=1)
    assert len(result.failures) == 1
    assert result.trials < 40
    assert result.notes == ("The search ended with failure 1; there may be others.",)


def test_a_scripted_trial_that_differs_on_replay_is_flaky(tmp_path: Path) -> None:
    """It crashes on the first failing read of its process and never again."""
    result = searched(crashing_of(lambda n: n == 1), tmp_path, ONE, budget=40, max_rules=1)
    assert (result.exit, result.failures) == (2, ())
    (flaky,) = result.flaky
    assert (flaky.failed, flaky.minimal) == (0, False)
    assert flaky.differs is not None
    then, now = flaky.differs
    assert "finished: raised RuntimeError" in then
    assert "call 2: read_file" in now


def test_what_differs_and_fails_in_four_of_five_is_a_failure_that_says_so(tmp_path: Path) -> None:
    """Every crash has another text."""
    count = 0

    async def agent(tools: Any) -> str:
        nonlocal count
        try:
            text = await tools.call("read_file", {"path": "orders.csv"})
        except Exception:
            count += 1
            raise RuntimeError(f"crash number {count}") from None
        total = sum(int(line.split(",")[1]) for line in text.splitlines()[1:-1])
        await tools.call("write_file", {"path": "total.txt", "text": str(total)})
        return "DONE"

    result = searched(agent, tmp_path, f"{ONE}:read_file", budget=40, max_rules=1)
    (failure,) = result.failures
    assert (result.exit, failure.failed, failure.runs, failure.minimal) == (1, 5, 5, False)
    assert failure.differs is not None


def test_the_rate_of_an_agent_that_is_not_deterministic_is_told(tmp_path: Path) -> None:
    agent = crashing_of(lambda n: n % 5 != 2)
    result = searched(agent, tmp_path, f"{ONE}:read_file", budget=60, max_rules=1, deterministic=False)
    (failure,) = result.failures
    assert (failure.failed, failure.runs, failure.differs) == (4, 5, None)
    rare = crashing_of(lambda n: n % 3 == 0)
    result = searched(
        rare, tmp_path / "rare", f"{ONE}:read_file", budget=60, max_rules=1, deterministic=False
    )
    assert (result.failures, result.exit) == ((), 0)


def test_ctrl_c_gives_back_what_was_found(tmp_path: Path) -> None:
    def press(done: int, total: int, what: str) -> None:
        if done == 8:
            raise KeyboardInterrupt

    result = searched(lying, tmp_path, ONE, budget=40, progress=press)
    assert (len(result.failures), result.trials) == (1, 8)
    assert result.notes == ("Stopped after 8 of 40 trials.",)


def test_who_is_told_of_a_failure_may_add_to_it(tmp_path: Path) -> None:
    with made(lying, ONE) as campaign:
        result = fuzz(
            campaign, tmp_path, budget=20, max_rules=1, told=lambda failure: replace(failure, saved="here")
        )
    assert [failure.saved for failure in result.failures] == ["here"]
    assert result.failures[0].plan == (RAISES,)


def test_a_grader_of_the_users_that_raises_is_ours_to_tell(tmp_path: Path) -> None:
    from tests.cli.door import write

    folder = tmp_path / "own" / "broken"
    write(
        folder,
        {
            "scenario.toml": 'prompt = "Write a."\ntools = ["write_file"]\noutputs = ["a"]\n'
            '[[full]]\ngrader = "function"\ncall = "graded"\n',
            "solution.py": "async def solve(task, tools):\n"
            '    await tools.write_file(path="a", text="a")\n    return "DONE"\n\n\n'
            "def graded(trace):\n    from forge_chaos.events import Injected, find\n"
            "    return 1 / (1 - len(list(find(trace, Injected)))) > 0\n",
        },
    )
    from forge_chaos import campaign
    from forge_chaos.bench import Bench
    from forge_chaos.executors.inline import inline

    assert Injected.kind == "injected"
    bench = Bench(Setup(scenarios_dirs=(str(tmp_path / "own"),)))
    asked = campaign.Options(faults=ONE, scenarios="broken")
    try:
        of = campaign.Campaign(bench.setup, asked, inline(bench), bench.hello(), bench)
        result = fuzz(of, tmp_path, budget=10, max_rules=1)
    finally:
        bench.close()
    assert result.exit == 3
    assert "broken under tool_exception.runtime" in result.broken[0]
    assert result.failures == ()


@pytest.mark.parametrize(
    ("setup", "whose"),
    [
        (Setup(agent="a:b"), "harness"),
        (Setup(persona="naive"), "model"),
        (Setup(agent="reference", persona="naive"), "model"),
        (Setup(agent="a:b", persona="naive"), "unknown"),
        (Setup(agent="a:b", model="openai:some"), "unknown"),
    ],
)
def test_the_layer_is_told_where_it_follows(setup: Setup, whose: str) -> None:
    assert layer(setup) == whose
