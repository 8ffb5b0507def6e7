"""Known-bad: limits of steps and of time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from forge_chaos import reference
from forge_chaos.specimens._loop import Call, Message, Told, Watched, loop
from forge_chaos.specimens._searcher import searcher


async def ignores_limit(task: Any, tools: Any, model: Any) -> str:
    """The step limit is never looked at."""
    return await loop(replace(task, max_steps=10**9), tools, searcher(model))


async def counts_turns(task: Any, tools: Any, model: Any) -> str:
    """The step limit counts turns: a turn of three calls is one step."""

    def cost(calls: Sequence[Call]) -> int:
        return 1

    return await loop(task, tools, searcher(model, width=3), cost=cost)


async def boasts_at_limit(task: Any, tools: Any, model: Any) -> str:
    """At the step limit the run stops in the middle, and is reported as done."""

    async def limited(task: Any, model: Any, messages: list[Message]) -> str:
        return "DONE"

    return await loop(task, tools, searcher(model), limited=limited)


class _Counted(Watched):
    calls = 0  # of the process, and no run begins anew

    async def call(self, name: str, args: Any = None, *, id: str | None = None) -> Any:
        _Counted.calls += 1
        return await super().call(name, args, id=id)


async def counts_across_runs(task: Any, tools: Any, model: Any) -> str:
    """The counter of steps lives as long as the process, so that after some runs every run fails."""
    left = max(1, 4 * task.max_steps - _Counted.calls)
    return await loop(replace(task, max_steps=left), _Counted(tools), model)


class _Timeless(Watched):
    def __init__(self, tools: Any) -> None:
        super().__init__(tools)
        self.limit = lambda name: None


async def waits_for_ever(task: Any, tools: Any, model: Any) -> str:
    """No call has a time limit."""
    return await loop(task, _Timeless(tools), model)


async def joins(task: Any, tools: Any, model: Any) -> str:
    """The time limit of a call fires, and then the call is waited for all the same."""

    class Joined(_Timeless):
        async def call(self, name: str, args: Any = None, *, id: str | None = None) -> Any:
            running = asyncio.ensure_future(super().call(name, args, id=id))
            done, _ = await asyncio.wait({running}, timeout=tools.limit(name))
            value = await running
            if not done:
                raise TimeoutError(f"no answer within {tools.limit(name):g} seconds")
            return value

    return await loop(task, Joined(tools), model)


async def loses_counts(task: Any, tools: Any, model: Any) -> str:
    """Steps are counted by reading, waiting and writing: of calls side by side only one counts."""
    count = 0

    async def perform(tools: Any, call: Call) -> Told:
        nonlocal count
        read = count
        await asyncio.sleep(0)  # the counter is somewhere else
        count = read + 1
        return await reference.perform(tools, call)

    def cost(calls: Sequence[Call]) -> int:
        nonlocal count
        taken, count = count, 0
        return taken

    return await loop(task, tools, searcher(model, width=3), perform=perform, cost=cost)


async def jumps_over(task: Any, tools: Any, model: Any) -> str:
    """The run ends when the steps equal the limit, which a batch of two jumps over."""

    class Equal:
        steps = 0

        def note(self, function: Any, failed: bool) -> str:
            self.steps += 1
            return ""

        @property
        def ended(self) -> str:
            return "the step limit is reached" if self.steps == task.max_steps else ""

    return await loop(replace(task, max_steps=10**9), tools, searcher(model, width=2), guard=Equal)


async def runs_whole_batch(task: Any, tools: Any, model: Any) -> str:
    """The step limit is looked at between two replies: what one reply asks for is run whole."""

    class Afterwards:
        steps = 0

        def note(self, function: Any, failed: bool) -> str:
            self.steps += 1
            return ""

        @property
        def ended(self) -> str:
            return "the step limit is reached" if self.steps >= task.max_steps else ""

    return await loop(replace(task, max_steps=10**9), tools, model, guard=Afterwards)
