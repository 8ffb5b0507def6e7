"""A trial without us in the process: an agent over the world's own tools and the scripted model, nothing
between them. No gate, no trace, no clock of ours."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from forge_chaos import natural, registry
from forge_chaos.modelserver.server import ScriptedModel
from forge_chaos.nouns import Call, Ok, Scenario, Task
from forge_chaos.trial import CONTRACT


@dataclass
class Toolbox:
    """The world's tools, called straight."""

    world: Any
    specs: list[dict[str, Any]] = field(init=False)
    names: tuple[str, ...] = field(init=False)
    calls: int = 0

    def __post_init__(self) -> None:
        self.specs = [spec.openai() for spec in self.world.specs.values()]
        self.names = tuple(self.world.specs)

    def limit(self, name: str) -> float:
        return float(self.world.specs[name].limit)

    async def call(self, name: str, args: Mapping[str, Any] | None = None, *, id: str | None = None) -> Any:
        self.calls += 1
        result = await self.world.tools[name](Call(self.calls, name, dict(args or {})))
        if isinstance(result, Ok):
            return result.value
        raise natural.exception(result)


@dataclass
class Model:
    """The scripted model, asked straight."""

    server: ScriptedModel

    async def complete(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]] = ()
    ) -> dict[str, Any]:
        request: dict[str, Any] = {"model": "scripted", "messages": list(messages)}
        if tools:
            request["tools"] = list(tools)
        response = self.server("/v1/chat/completions", json.dumps(request, ensure_ascii=False).encode())
        assert response.status == 200, response.body
        message: dict[str, Any] = json.loads(response.body)["choices"][0]["message"]
        return message


async def run(scenario: Scenario, agent: Any, persona: str = "expert") -> tuple[str, Any]:
    """The agent's answer, and its world at the end. The caller closes the world."""
    import asyncio

    world = registry.leaf("worlds", scenario.world)(scenario, asyncio.sleep)
    model, tools, answer = Model(ScriptedModel(scenario, persona, world.specs)), Toolbox(world), ""
    session: dict[str, Any] = {}
    for turn, prompt in enumerate((scenario.prompt, *(turn.prompt for turn in scenario.turns)), 1):
        task = Task(prompt + CONTRACT, scenario.limits.steps, scenario.name, turn=turn, session=session)
        answer = await agent(task, tools, model)
    return answer, world
