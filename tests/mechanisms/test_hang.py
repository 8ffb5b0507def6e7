"""hang: nothing but the caller ends it."""

from __future__ import annotations

import asyncio

import pytest

from forge_chaos.clock import VirtualLoop
from forge_chaos.mechanisms.hang import hang

from .env import Answers, Trial, call

READ = call("read_file", path="a.txt")


def test_the_callers_own_limit_ends_it() -> None:
    loop = VirtualLoop()
    tool, trial = Answers("x"), Trial()

    async def agent() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(hang(READ, tool, trial), 30)

    try:
        loop.run_until_complete(agent())
    finally:
        loop.close()
    assert loop.now == 30
    assert tool.ran == 0
    assert len(trial.fired) == 1


def test_without_one_nothing_is_left_that_could_wake_it() -> None:
    loop = VirtualLoop()
    idle: list[bool] = []
    task = loop.create_task(hang(READ, Answers("x"), Trial()))

    def on_idle() -> None:
        idle.append(True)
        task.cancel()

    loop.on_idle = on_idle
    try:
        with pytest.raises(asyncio.CancelledError):
            loop.run_until_complete(task)
    finally:
        loop.close()
    assert idle == [True]
