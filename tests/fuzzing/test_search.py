"""The search on one scenario."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

from forge_chaos.fuzzing.found import Result
from tests.fuzzing.searched import FAULTS, RAISES, good, lying, needs_both, searched, summing


def plans(result: Result) -> list[tuple[str, ...]]:
    return [failure.plan for failure in result.failures]


def test_a_rule_that_fails_alone_is_found_and_made_simple(tmp_path: Path) -> None:
    result = searched(lying, tmp_path, budget=30)
    assert plans(result) == [(RAISES,)]
    (failure,) = result.failures
    assert failure.minimal
    assert failure.at + failure.trials <= result.trials <= 30


def test_nothing_is_found_where_there_is_nothing(tmp_path: Path) -> None:
    result = searched(good, tmp_path, faults="tool_exception.runtime", budget=40, max_rules=1)
    assert (plans(result), result.exit) == ([], 0)
    assert result.fired == result.trials - 1


def test_what_needs_two_faults_is_found_by_plans_alone(tmp_path: Path) -> None:
    agent = needs_both()
    faults = "tool_exception.runtime,tool_exception.os"
    assert plans(searched(agent, tmp_path / "1", faults, budget=40, max_rules=1)) == []
    found = searched(agent, tmp_path / "2", faults, budget=80, max_rules=3)
    assert plans(found) == [(RAISES, "tool_exception.runtime:write_file(total.txt)")]
    assert found.failures[0].minimal


def test_distinct_failures_are_kept_apart(tmp_path: Path) -> None:
    async def agent(tools: Any) -> str:
        try:
            text = await tools.call("read_file", {"path": "orders.csv"})
        except Exception:
            return "DONE"
        total = sum(int(line.split(",")[1]) for line in text.splitlines()[1:-1])
        await tools.call("write_file", {"path": "total.txt", "text": str(total)})
        return "DONE"

    result = searched(agent, tmp_path, budget=40, max_rules=1)
    assert {(str(failure.key), failure.plan) for failure in result.failures} == {
        ("sum_orders: false_success (file_equals)", (RAISES,)),
        ("sum_orders: crashed", ("tool_exception.runtime:write_file(total.txt)",)),
    }


def test_one_outcome_alone_may_be_looked_for(tmp_path: Path) -> None:
    result = searched(lying, tmp_path, outcome="crashed")
    assert plans(result) == []


def test_a_call_that_is_made_only_under_a_fault_is_a_place(tmp_path: Path) -> None:
    async def agent(tools: Any) -> str:
        try:
            text = await tools.call("read_file", {"path": "orders.csv"})
        except Exception:
            names = await tools.call("list_files", {"path": "."})
            assert "orders.csv" in names
            try:
                text = await tools.call("read_file", {"path": "orders.csv"})
            except Exception as error:
                return f"FAILED: {error}"
        total = sum(int(line.split(",")[1]) for line in text.splitlines()[1:-1])
        try:
            await tools.call("write_file", {"path": "total.txt", "text": str(total)})
        except Exception:
            return "FAILED"
        return "DONE"

    result = searched(agent, tmp_path, faults="tool_exception.runtime", budget=80, outcome="crashed")
    assert plans(result) == [(RAISES, "tool_exception.runtime:list_files(.)")]


def test_minimal_is_said_only_when_the_budget_was_enough_to_verify_it(tmp_path: Path) -> None:
    said = []
    for seed, budget in product((1, 2, 3, 4, 5), (3, 4, 9)):
        folder = tmp_path / f"{seed}-{budget}"
        result = searched(
            lying, folder, f"timeout.raises,{FAULTS}", budget=budget, seed=seed, max_rules=1, most=1
        )
        assert result.trials <= budget
        for failure in result.failures:
            assert not failure.minimal or failure.plan == ("timeout.raises:read_file(orders.csv)",)
            said.append(failure.minimal)
    assert set(said) == {False, True}


def test_rules_with_numbers_are_taken_as_they_are(tmp_path: Path) -> None:
    result = searched(lying, tmp_path, faults="tool_exception.os@1..:read_file(orders.csv)", max_rules=1)
    assert plans(result) == [("tool_exception.os@1..:read_file(orders.csv)",)]


def test_equal_seeds_search_equally(tmp_path: Path) -> None:
    def story(folder: str) -> list[object]:
        result = searched(summing(lambda: "DONE"), tmp_path / folder, seed=3, budget=50)
        return [(failure.plan, failure.at, failure.trials) for failure in result.failures]

    assert story("a") == story("b") != []
