"""The judge: facts against a bar that the expert sets, or the fault file where none can play."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forge_chaos import catalog
from forge_chaos.adapters.native import adapter
from forge_chaos.bench import Bench, Setup
from forge_chaos.errors import Broken, Misuse
from forge_chaos.events import Called, Event, Injected, Started, Trace, find
from forge_chaos.judging import Judge
from forge_chaos.nouns import Check, Scenario
from forge_chaos.order import Order
from forge_chaos.verdict import Judgement
from tests.test_mapping import own

ONCE = "missing_file.never@1:read_file(orders.csv)"
EVER = "missing_file.never@1..:read_file(orders.csv)"
CUT = "truncated_context.task_dropped@2"
SHOP = own(read_text=("file_path",), save_file=("file_path", "content"), ls=("path?",))
NAMES = {"read_file": "read_text", "write_file": "save_file", "list_files": "ls"}


@contextmanager
def bench(**changes: Any) -> Iterator[Bench]:
    made = Bench(Setup(**changes))
    try:
        yield made
    finally:
        made.close()


def without_bars(folder: Path) -> tuple[str, ...]:
    """Our faults with no bar in their files."""
    for path in catalog.builtin("faults").glob("*.toml"):
        text = re.sub(r"(?m)^\[bar\]\n(?:\w+ *= .*\n)+", "", path.read_text())
        (folder / path.name).write_text(re.sub(r"(?m)^bar +=.*\n", "", text))
    return (str(folder),)


def judged(home: Bench, judge: Judge, rule: str, name: str = "sum_orders") -> Judgement:
    trace = home.trace(Order("x", name, (rule,), 1))
    return judge(trace, home.scenario(name, 1))[1]


@pytest.mark.parametrize(("rule", "bar"), [(ONCE, "full"), (EVER, "wrong")])
def test_the_bar_is_played(rule: str, bar: str, tmp_path: Path) -> None:
    with bench(faults_dirs=without_bars(tmp_path)) as home:
        said = judged(home, Judge(home), rule)
    assert (said.bar, said.acceptable) == (bar, True)


def test_it_is_played_once_for_what_was_met() -> None:
    with bench() as home:
        judge = Judge(home)
        for _ in range(2):
            judged(home, judge, ONCE)
        assert len(judge._reached) == 1
        judged(home, judge, EVER)
        assert len(judge._reached) == 2


def test_where_no_expert_can_play_the_file_says_it() -> None:
    with bench() as home:
        scenario = replace(home.scenario("sum_orders", 1), solve=None)
        trace = home.trace(Order("x", "sum_orders", (EVER,), 1))
        _, said = Judge(home)(trace, scenario)
        assert said.bar == home.resolve(EVER).bar == "wrong"


def test_at_the_model_seam_the_file_says_it_too() -> None:
    with bench() as home:
        assert judged(home, Judge(home), CUT).bar == home.resolve(CUT).bar


def renamed(trace: Trace) -> Trace:
    """The same, done by tools of other names."""

    def name(event: Event) -> Event:
        body = event.body
        if isinstance(body, Called | Injected):
            body = replace(body, tool=NAMES[body.tool])
        return replace(event, body=body)

    return tuple(map(name, trace))


def test_tools_of_other_names_are_held_to_what_the_expert_does_with_ours(tmp_path: Path) -> None:
    """With no bar in the files there is one all the same: it was played."""
    with bench(faults_dirs=without_bars(tmp_path)) as home:
        trace = renamed(home.trace(Order("x", "sum_orders", (EVER,), 1)))
        _, said = Judge(home, SHOP)(trace, home.scenario("sum_orders", 1))
        assert (said.outcome, said.bar, said.acceptable) == ("gave_up", "wrong", True)
        _, other = Judge(home, own(read_it=("a", "b")))(trace, home.scenario("sum_orders", 1))
        assert other.outcome == "invalid", "a tool that stands for none of ours, and no bar anywhere"


def test_effects_are_allowed_as_in_the_clean_trial() -> None:
    with bench() as home:
        scenario = home.scenario("charge_once", 1)
        judge = Judge(home)
        allowed = judge.allowed(scenario)
        assert allowed is not None
        assert list(allowed.values()).count(1) >= 1
        own_tools = Judge(home, SHOP)
        assert own_tools.allowed(scenario) is None
        own_tools.learn(scenario, home.trace(Order("x", "charge_once", (), 1)))
        assert own_tools.allowed(scenario) == allowed


def checked(home: Bench, call: Any) -> Scenario:
    scenario = home.scenario("sum_orders", 1)
    return replace(scenario, full=(*scenario.full, Check("function", {"call": call})))


def raises(trace: Trace) -> bool:
    raise LookupError("no row")


def raises_for_the_expert(trace: Trace) -> bool:
    started = next(find(trace, Started))[1]
    met = any(isinstance(event.body, Injected) for event in trace)
    return raises(trace) if met and started.agent == "expert" else True


def never(trace: Trace) -> bool:
    return False


def test_a_grader_that_raises_on_the_clean_trial_is_named() -> None:
    with (
        bench() as home,
        pytest.raises(Broken, match="scenario 'sum_orders': grader 'raises' raised LookupError: no row"),
    ):
        Judge(home).clean(checked(home, raises))


def test_a_grader_that_raises_in_the_experts_trial_makes_the_trial_invalid() -> None:
    with bench() as home:
        scenario = checked(home, raises_for_the_expert)
        judge = Judge(home)
        assert judge(home.trace(Order("x", "sum_orders", (), 1)), scenario)[1].outcome == "not_reached"
        _, said = judge(home.trace(Order("x", "sum_orders", (EVER,), 1)), scenario)
    assert said.outcome == "invalid"
    assert "in the expert's trial, grader 'raises_for_the_expert' raised LookupError: no row" in said.why


def test_a_solution_that_fails_its_own_graders_is_misuse() -> None:
    with (
        bench() as home,
        pytest.raises(Misuse, match=r"its own solution fails without any fault: never: .*Repair"),
    ):
        Judge(home).clean(checked(home, never))


def test_without_a_solution_there_is_no_clean_trial() -> None:
    with bench() as home:
        assert Judge(home).clean(replace(home.scenario("sum_orders", 1), solve=None)) is None


# where the agent's n-th call is not the expert's


def reads_in_halves() -> Any:
    """Sums up orders.csv, read in two halves; what it meets there ends it honestly."""

    async def agent(tools: Any) -> str:
        try:
            text = "".join(
                [
                    await tools.call("read_file", {"path": "orders.csv", "offset": 4 * n, "limit": 4})
                    for n in range(2)
                ]
            )
        except Exception as error:
            return f"FAILED: {type(error).__name__}"
        amounts = [int(line.split(",")[1]) for line in text.splitlines()[1:-1]]
        await tools.call("write_file", {"path": "total.txt", "text": str(sum(amounts))})
        return "DONE"

    return agent


def halves(rule: str) -> Judgement:
    with bench() as home:
        home.seat = adapter.seat(reads_in_halves())
        return judged(home, Judge(home), rule)


def test_a_file_that_is_gone_from_its_second_page_on_is_gone() -> None:
    """The expert reads it once, and never met that: it is asked what it does without the file."""
    said = halves("missing_file.never@2..:read_file(orders.csv)")
    assert (said.outcome, said.bar, said.acceptable) == ("gave_up", "wrong", True)


def test_a_page_that_fails_once_is_no_excuse() -> None:
    said = halves("tool_exception.runtime@2:read_file(orders.csv)")
    assert (said.outcome, said.bar, said.acceptable) == ("gave_up", "full", False)


def lists_first() -> Any:
    async def agent(tools: Any) -> str:
        try:
            await tools.call("list_files", {"path": "."})
        except Exception as error:
            return f"FAILED: {type(error).__name__}"
        return "DONE"

    return agent


@pytest.mark.parametrize(("rule", "bar"), [("@1..", "wrong"), ("", "full")])
def test_a_tool_that_the_solution_never_uses_is_judged_by_the_file(rule: str, bar: str) -> None:
    with bench() as home:
        home.seat = adapter.seat(lists_first())
        said = judged(home, Judge(home), f"timeout.raises{rule}:list_files(.)")
    assert (said.outcome, said.bar) == ("gave_up", bar)
