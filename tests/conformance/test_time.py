"""Trial time: it leaps over sleeps and never past work in threads; nothing that an agent does hangs us."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from forge_chaos.adapters.native import adapter
from forge_chaos.bench import Bench, Setup
from forge_chaos.events import Returned, Trace, find
from forge_chaos.order import Order
from tests.conformance import table

RUNS, THREADS = 200, 10
ORDERS = "read_file(orders.csv)"
SCENARIO = """
prompt = "Measure the water."
world  = "tests.conformance.slow_world:slow"
[[full]]
grader = "answer_contains"
text   = "level 7"
"""


async def beside_a_sleep(tools: Any) -> str:
    """Two hands: one measures, which blocks a thread for real; one sleeps 30 s of trial time, then looks."""

    async def later() -> None:
        await asyncio.sleep(30)
        await tools.call("list_files")

    level, _ = await asyncio.gather(tools.call("measure"), later())
    return f"{level}\nDONE"


def in_a_thread(tools: Any) -> str:
    """A plain `def`: the level, and then a call that waits 60 s of trial time for its late answer."""
    level = tools.call("measure")
    return f"{level} {tools.call('list_files')}\nDONE"


def traces(agent: Callable[..., Any], folder: Path, rules: tuple[str, ...], runs: int) -> list[Trace]:
    """So many trials one after the other, on a loop and a bench of their own."""
    bench = Bench(Setup(scenarios_dirs=(str(folder),)))
    bench.seat = adapter.seat(agent)
    try:
        return [bench.trace(Order("x", "water", rules, 1)) for _ in range(runs)]
    finally:
        bench.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("agent", "rules", "at"),
    [(beside_a_sleep, (), [0.0, 30.0]), (in_a_thread, ("timeout.late:list_files",), [0.0, 60.0])],
    ids=["async", "plain def"],
)
def test_traces_are_equal_in_200_of_200_runs(
    agent: Any, rules: tuple[str, ...], at: list[float], tmp_path: Path
) -> None:
    (tmp_path / "water").mkdir()
    (tmp_path / "water" / "scenario.toml").write_text(SCENARIO)
    with ThreadPoolExecutor(THREADS) as pool:
        waiting = [pool.submit(traces, agent, tmp_path, rules, RUNS // THREADS) for _ in range(THREADS)]
        found = [trace for done in waiting for trace in done.result()]
    assert len(found) == RUNS
    assert [event.at for event in found[0] if isinstance(event.body, Returned)] == at
    assert [trace for trace in found if trace != found[0]] == []


async def swallows_everything(tools: Any) -> str:
    while True:
        try:
            await tools.call("read_file", {"path": "orders.csv"})
            return "DONE"
        except Exception:
            continue


def swallows_everything_in_a_thread(tools: Any) -> str:
    while True:
        try:
            tools.call("read_file", {"path": "orders.csv"})
            return "DONE"
        except Exception:
            continue


async def asks_for_ever(tools: Any) -> str:
    """Not even success ends it."""
    while True:
        try:
            await tools.call("read_file", {"path": "orders.csv"})
        except Exception:
            continue


def asks_for_ever_in_a_thread(tools: Any) -> str:
    while True:
        try:
            tools.call("read_file", {"path": "orders.csv"})
        except Exception:
            continue


ASYNC, PLAIN = (
    (swallows_everything, asks_for_ever),
    (swallows_everything_in_a_thread, asks_for_ever_in_a_thread),
)
RAISING = ("timeout.raises", "missing_file.never", "tool_exception.runtime")
# In a thread the tool's own cancellation arrives as an ordinary exception, on the loop as one that ends it.
LOOPS = [(agent, name) for agent in (*ASYNC, *PLAIN) for name in RAISING] + [
    (agent, "tool_exception.cancelled") for agent in PLAIN
]


@pytest.mark.parametrize(("agent", "name"), LOOPS)
def test_who_swallows_every_exception_loops(agent: Any, name: str) -> None:
    with table.seated(agent) as bench:
        trial = table.play("sum_orders", f"{name}@1..:{ORDERS}", by=bench)
    assert trial.facts.fired
    assert (trial.outcome, trial.judgement.acceptable) == ("looped", False), str(trial)
    assert trial.facts.end == "stopped"


@pytest.mark.parametrize("agent", [swallows_everything, swallows_everything_in_a_thread])
@pytest.mark.parametrize("rule", [f"timeout.hangs:{ORDERS}", f"timeout.hangs@1..:{ORDERS}"])
def test_who_waits_for_a_tool_that_never_returns_hangs(agent: Any, rule: str) -> None:
    with table.seated(agent) as bench:
        trial = table.play("sum_orders", rule, by=bench)
    assert (trial.outcome, trial.judgement.acceptable) == ("hung", False), str(trial)
    assert [told for _, told in find(trial.trace, Returned)] == []


def test_a_hung_trial_leaves_the_next_one_alone() -> None:
    with table.seated(swallows_everything_in_a_thread) as bench:
        before = bench.trace(Order("x", "sum_orders", (), 1))
        for rule in (f"timeout.hangs:{ORDERS}", f"timeout.raises@1..:{ORDERS}"):
            bench.trace(Order("x", "sum_orders", (rule,), 1))
            assert bench.trace(Order("x", "sum_orders", (), 1)) == before
