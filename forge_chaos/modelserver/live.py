"""Solution and persona driven straight against tools: no wire, no replay. The path of the bar."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from forge_chaos import natural
from forge_chaos.modelserver.errors import ProviderError
from forge_chaos.modelserver.move import Say
from forge_chaos.modelserver.run import Run, persona
from forge_chaos.modelserver.server import BUDGET, spent
from forge_chaos.modelserver.trouble import Stuck
from forge_chaos.modelserver.turn import said
from forge_chaos.modelserver.view import Reply
from forge_chaos.nouns import Answer, Ok, Scenario, Task, Tool, ToolSpec
from forge_chaos.ports import Gate, Seat
from forge_chaos.reference import over_limit, use

Perform = Callable[[str, Mapping[str, Any], tuple[int, int]], Awaitable[str]]


async def play(
    scenario: Scenario,
    who: str,
    specs: Mapping[str, ToolSpec],
    perform: Perform,
    sleep: Callable[[float], Awaitable[object]],
    budget: int = BUDGET,
    steps: int | None = None,
    clean: bool = False,
    message: int = 1,
) -> str:
    """The answer that the persona ends with to the user's message of that number.

    `perform(name, args, order)` calls a tool and words its result as the agent would; `order` is (turn,
    index in the batch). A batch is performed in order, one call after the other. After `steps` tool
    calls no more are allowed. Raises ProviderError when `budget` turns are spent, SolutionError when
    `clean` and the solution raised by itself.
    """
    run = Run(scenario, persona(who), specs, clean=clean, stands=said(scenario, message))
    try:
        move, done = run.send(None), 0
        for turn in range(1, budget + 1):
            if isinstance(move, Say):
                return move.text
            if steps is not None and done >= steps:
                return run.end(Stuck("no more calls are allowed")).text
            if move.wait:
                await sleep(move.wait)
            replies = []
            for index, call in enumerate(move.calls):
                allowed = steps is None or done < steps
                text = (
                    await perform(call.name, call.args, (turn, index)) if allowed else over_limit(steps or 0)
                )
                replies.append(Reply(text))
                done += 1
            move = run.send(tuple(replies))
        if isinstance(move, Say):
            return move.text
        raise ProviderError(400, spent(budget))
    finally:
        run.close()


def seat(scenario: Scenario, who: str, clean: bool = False) -> Seat:
    """The persona as an agent of its own, for a scenario that has a solution."""

    async def agent(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        async def perform(name: str, args: Mapping[str, Any], order: tuple[int, int]) -> str:
            text, _ = await use(_Hand(specs, tools, gate, order), name, args)
            return text

        return Answer(
            await play(
                *(scenario, who, specs, perform, asyncio.sleep),
                steps=task.max_steps,
                clean=clean,
                message=task.turn,
            )
        )

    return Seat(agent, "live", inline=True, turns=True)


@dataclass(frozen=True, slots=True)
class _Hand:
    """One call through the gate, in the shape that the reference agent uses."""

    specs: Mapping[str, ToolSpec]
    tools: Mapping[str, Tool]
    gate: Gate
    order: tuple[int, int]

    def limit(self, name: str) -> float:
        return self.specs[name].limit

    async def call(self, name: str, args: Mapping[str, Any], *, id: str | None = None) -> Any:
        result = await self.gate(name, args, self.tools[name], order=self.order)
        if isinstance(result, Ok):
            return result.value
        target = self.specs[name].target
        at = args.get(target) if target else None
        raise natural.exception(result, at if isinstance(at, str) else None)
