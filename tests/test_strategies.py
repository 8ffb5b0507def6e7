"""Strategies over plans: most can fire, they shrink, and they work in a user's own tests."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument, NoSuchExample
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from forge_chaos import seated
from forge_chaos.errors import Misuse
from forge_chaos.notation import parse, write
from forge_chaos.nouns import Plan, Rule, dice
from forge_chaos.schedule import matches
from forge_chaos.strategies import observe, plans, plans_in, play, rules, schedules
from tests.fuzzing.searched import RAISES, SUMS, good, lying

FAULTS = "tool_exception.runtime,tool_exception.os,timeout.raises"
FEW = settings(max_examples=25, deadline=None, database=None, suppress_health_check=list(HealthCheck))
CLEAN = seated.clean(SUMS, good, 1)


def texts(plan: Plan) -> list[str]:
    return list(map(write, plan.rules))


@given(plans(SUMS, good, faults=FAULTS, max_rules=3))
@FEW
def test_a_plan_is_of_rules_that_were_asked_for(plan: Plan) -> None:
    assert 1 <= len(plan.rules) <= 3
    assert plan.seed == 1
    assert {rule.fault for rule in plan.rules} <= {"tool_exception", "timeout"}


def test_most_plans_fire() -> None:
    fired = []

    @given(plans(SUMS, good, faults=FAULTS))
    @settings(FEW, derandomize=True)
    def each(plan: Plan) -> None:
        fired.append(bool(play(SUMS, good, plan).facts.fired))

    each()
    assert sum(fired) / len(fired) > 0.9


def test_in_a_test_of_the_users_a_bug_is_found_and_shrinks() -> None:
    @given(plans(SUMS, lying, faults=FAULTS))
    @settings(FEW, derandomize=True)
    def never_lies(plan: Plan) -> None:
        assert play(SUMS, lying, plan).judgement.acceptable, texts(plan)

    with pytest.raises(AssertionError) as failed:
        never_lies()
    assert str(failed.value).startswith(f"{[RAISES]}")
    assert f"{SUMS} under {RAISES}: false_success" in getattr(failed.value, "__notes__", ())


def test_a_test_that_is_async_may_play_too() -> None:
    async def never_lies(plan: Plan) -> None:
        assert play(SUMS, lying, plan).judgement.acceptable, texts(plan)

    @given(plans(SUMS, lying, faults=FAULTS))
    @settings(FEW, derandomize=True)
    def as_a_plugin_runs_it(plan: Plan) -> None:
        asyncio.run(never_lies(plan))

    with pytest.raises(AssertionError) as failed:
        as_a_plugin_runs_it()
    assert str(failed.value).startswith(f"{[RAISES]}")


class Forgetful:
    """An agent of several turns: where a call fails in two of them it lies in the second."""

    def __init__(self) -> None:
        self.failed = 0

    async def __call__(self, tools: Any) -> str:
        try:
            text = await tools.call("read_file", {"path": "orders.csv"})
        except Exception:
            self.failed += 1
            if self.failed > 1:
                return "DONE"
            text = await tools.call("read_file", {"path": "orders.csv"})
        total = sum(int(line.split(",")[1]) for line in text.splitlines()[1:-1])
        await tools.call("write_file", {"path": "total.txt", "text": str(total)})
        return "DONE"


def test_an_agent_of_several_turns_in_a_state_machine() -> None:
    agent = Forgetful()

    class Turns(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            agent.failed = 0
            self.why = ""

        @rule(single=rules(CLEAN, faults="tool_exception.runtime@1:read_file"))
        def turn(self, single: Rule) -> None:
            trial = play(SUMS, agent, Plan((single,), 1))
            self.why = "" if trial.judgement.acceptable else trial.judgement.why

        @invariant()
        def never_lies(self) -> None:
            assert not self.why

    few = settings(FEW, derandomize=True, max_examples=10, stateful_step_count=4)
    with pytest.raises(AssertionError) as failed:
        run_state_machine_as_test(Turns, settings=few)
    notes = "\n".join(getattr(failed.value, "__notes__", ()))
    assert notes.count("state.turn(") == 2, notes


def minimum(strategy: st.SearchStrategy[Any], condition: Any) -> Any:
    return find(strategy, condition, settings=settings(FEW, max_examples=2000), random=dice(1, "shrink"))


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        (lambda plan: True, ["tool_exception.runtime:read_file(orders.csv)"]),
        (
            lambda plan: len(plan.rules) > 1,
            ["tool_exception.runtime:read_file(orders.csv)", "tool_exception.runtime:write_file(total.txt)"],
        ),
        (
            lambda plan: any(rule.last is None for rule in plan.rules),
            ["tool_exception.runtime@1..:read_file(orders.csv)"],
        ),
        (
            lambda plan: any(rule.tool == "write_file" and rule.fault == "timeout" for rule in plan.rules),
            ["timeout.raises:write_file(total.txt)"],
        ),
        (
            lambda plan: {rule.tool for rule in plan.rules} == {"read_file", "write_file"},
            ["tool_exception.runtime:read_file(orders.csv)", "tool_exception.runtime:write_file(total.txt)"],
        ),
    ],
)
def test_what_is_found_is_the_smallest(condition: Any, found: list[str]) -> None:
    assert texts(minimum(plans(CLEAN, faults=FAULTS), condition)) == found


def test_single_rules_shrink_too() -> None:
    assert write(minimum(rules(CLEAN, faults=FAULTS), lambda rule: True)) == RAISES
    wanted = minimum(rules(CLEAN, faults=FAULTS), lambda rule: rule.variant == "os")
    assert write(wanted) == "tool_exception.os:read_file(orders.csv)"


@given(schedules(3))
def test_a_schedule_is_a_range_of_calls(schedule: tuple[int, int | None]) -> None:
    first, last = schedule
    assert 1 <= first <= 3
    assert last is None or first <= last <= first + 2
    made = Rule("timeout", first=first, last=last)
    assert parse(write(made)) == made
    assert matches(made, "read_file", None)


def test_the_simplest_schedule_is_the_first_call() -> None:
    assert minimum(schedules(), lambda schedule: True) == (1, 1)
    assert minimum(schedules(), lambda schedule: schedule[1] is None) == (1, None)
    assert minimum(schedules(), lambda schedule: schedule[0] > 1) == (2, 2)


def test_what_has_no_place_is_misuse() -> None:
    with pytest.raises(Misuse, match="none of timeout has a place in this scenario's clean trial"):
        minimum(plans(CLEAN, faults="timeout.waits_for_input"), lambda plan: True)
    with pytest.raises(Misuse, match="no fault 'tiemout'"):
        minimum(rules(CLEAN, faults="tiemout"), lambda rule: True)


def test_rules_on_calls_that_only_a_fault_brings_come_with_that_fault() -> None:
    from forge_chaos.space import place_of, space

    opener, learnt = parse(RAISES), parse("timeout.raises:list_files(.)")
    strategy = plans_in(space([opener]), 2, space([learnt]), {place_of(learnt): opener})
    found = minimum(strategy, lambda plan: learnt in plan.rules)
    assert set(found.rules) == {opener, learnt}
    with pytest.raises(NoSuchExample):
        minimum(
            plans_in(space([opener]), 1, space([learnt]), {place_of(learnt): opener}),
            lambda p: learnt in p.rules,
        )


def test_outside_of_a_hypothesis_test_nothing_is_observed() -> None:
    trial = play(SUMS, lying, Plan((parse(RAISES),), 1))
    assert trial.judgement.outcome == "false_success"
    with pytest.raises(InvalidArgument):
        observe(trial)
