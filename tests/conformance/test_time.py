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
from forge_chaos.clock import VirtualLoop
from forge_chaos.events import Returned, Trace, find
from forge_chaos.gate import ToolGate
from forge_chaos.modelgate import ModelGate, ModelSeat
from forge_chaos.nouns import Task
from forge_chaos.order import Order
from forge_chaos.recorder import Recorder
from tests.conformance import slow_world, table

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


def on_a_bench(agent: Callable[..., Any], rule: str | None, folder: Path) -> list[Trace]:
    """Trials one after the other, on a loop and a bench of their own."""
    bench = Bench(Setup(scenarios_dirs=(str(folder),)))
    bench.seat = adapter.seat(agent)
    order = Order("x", "water", () if rule is None else (rule,), 1)
    try:
        return [bench.trace(order) for _ in range(RUNS // THREADS)]
    finally:
        bench.close()


def together(runs: Callable[[], list[Trace]]) -> list[Trace]:
    """As many runs as are asked for, several at a time: each waits for a thread of its own most of the time."""
    with ThreadPoolExecutor(THREADS) as pool:
        waiting = [pool.submit(runs) for _ in range(THREADS)]
        return [trace for done in waiting for trace in done.result()]


def returned(trace: Trace) -> list[float]:
    return [event.at for event in trace if isinstance(event.body, Returned)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("agent", "rule", "at"),
    [(beside_a_sleep, None, [0.0, 30.0]), (in_a_thread, "timeout.late:list_files", [0.0, 60.0])],
    ids=["async", "plain def"],
)
def test_traces_are_equal_in_200_of_200_runs(
    agent: Any, rule: str | None, at: list[float], tmp_path: Path
) -> None:
    (tmp_path / "water").mkdir()
    (tmp_path / "water" / "scenario.toml").write_text(SCENARIO)
    found = together(lambda: on_a_bench(agent, rule, tmp_path))
    assert len(found) == RUNS
    assert returned(found[0]) == at
    assert [trace for trace in found if trace != found[0]] == []


def in_a_framework() -> list[Trace]:
    """The same two hands in a framework: an agent with tools of its own, one plain and one async, which its
    model asks for in one batch. Its plain tools run in a thread pool that is not the loop's."""
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from forge_chaos.adapters.pydantic_ai import adapter as framework

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if len(messages) == 1:
            return ModelResponse(parts=[ToolCallPart("later", {}, "a"), ToolCallPart("measure", {}, "b")])
        return ModelResponse(parts=[TextPart("DONE")])

    agent = Agent(FunctionModel(model))
    agent.tool_plain(slow_world.measure)

    @agent.tool_plain
    async def later() -> str:
        """Looks in half a minute."""
        await asyncio.sleep(30)
        return "nothing new"

    seat = framework.seat(agent)
    loop = VirtualLoop()

    async def trial() -> Trace:
        loop.watch_anyio()
        record = Recorder(loop.time)
        specs = seat.specs or {}
        gate = ToolGate([], specs, record, loop.time)
        own = ModelSeat(ModelGate([], record, loop.time, gate), None)
        answer = await seat.agent(Task("Measure the water.", 20), specs, {}, gate, own)
        assert answer.text == "DONE"
        return record.trace

    try:
        return [loop.run_until_complete(trial()) for _ in range(RUNS // THREADS)]
    finally:
        loop.close()


@pytest.mark.slow
def test_traces_are_equal_in_200_of_200_runs_in_a_framework() -> None:
    found = together(in_a_framework)
    assert len(found) == RUNS
    assert returned(found[0]) == [0.0, 30.0]
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
