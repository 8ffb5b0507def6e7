"""Known-bad: limits of steps and of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from forge_chaos.specimens._loop import Call, Message, Watched, loop
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
