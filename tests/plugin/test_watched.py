"""Trials in a thread of this process: an agent that blocks for real is hung, and the next one is not."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from forge_chaos import agents
from forge_chaos.bench import Bench, Setup
from forge_chaos.events import Finished, Trace, find
from forge_chaos.order import Order
from forge_chaos.plugin.watched import watched

BLOCKS = [True]


async def spins(task: Any, tools: Any) -> str:
    """Reads, then goes round without ever giving the loop a turn, but only the first time."""
    await tools.call("read_file", {"path": "orders.csv"})
    while BLOCKS[0]:
        pass
    return "FAILED: stopped"


async def leaves(task: Any) -> str:
    raise SystemExit(3)


def sleeps(task: Any, tools: Any) -> str:
    tools.call("read_file", {"path": "orders.csv"})
    time.sleep(0.01)
    return "FAILED: tired"


def executor(agent: Any, watchdog: float = 30) -> watched:
    seat = agents.seat_of(agent)
    return watched(lambda: Bench(Setup(agent="test:agent"), (), seat), watchdog)


def finished(trace: Trace) -> Finished:
    (end,) = (body for _, body in find(trace, Finished))
    return end


@pytest.fixture
def blocking() -> Iterator[None]:
    BLOCKS[0] = True
    yield
    BLOCKS[0] = False


@pytest.mark.slow
@pytest.mark.usefixtures("blocking")
def test_who_blocks_for_real_is_hung_and_left_behind() -> None:
    home = os.getcwd()
    running = executor(spins, watchdog=1)
    (_, trace), *_ = running.run([Order("t1", "sum_orders")])
    assert (finished(trace).end, finished(trace).why) == ("hung", "watchdog")
    assert "read_file" in str(trace)
    assert os.getcwd() == home
    assert [t for t in threading.enumerate() if t.name == "forge-chaos-trial"] == []
    BLOCKS[0] = False
    (_, trace), *_ = running.run([Order("t2", "sum_orders")])
    assert finished(trace).answer == "FAILED: stopped"
    running.close()


def test_a_plain_function_and_an_exit() -> None:
    for agent, end in ((sleeps, "answered"), (leaves, "raised")):
        running = executor(agent)
        orders = [Order("t1", "sum_orders"), Order("t2", "sum_orders")]
        traces = [trace for _, trace in running.run(orders)]
        assert [finished(trace).end for trace in traces] == [end, end]
        running.close()


def test_what_is_wrong_with_us_comes_through() -> None:
    from forge_chaos.errors import Misuse

    running = executor(sleeps)
    with pytest.raises(Misuse, match="no scenario 'nowhere'"):
        list(running.run([Order("t1", "nowhere")]))
    running.close()
