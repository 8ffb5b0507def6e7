"""An empty plan changes nothing: arguments, results and message history are those of a run without us."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from forge_chaos import reference
from forge_chaos.events import Snapshot, find
from forge_chaos.recorded import plain
from tests.conformance import bare, table


@dataclass
class Diary:
    """Wraps an agent: everything that goes into its tools and its model, and comes out, byte for byte."""

    agent: Any
    lines: list[bytes] = field(default_factory=list)

    def note(self, *what: Any) -> None:
        self.lines.append(json.dumps(plain(list(what)), sort_keys=True).encode())

    async def __call__(self, task: Any, tools: Any, model: Any) -> str:
        self.note("task", task.prompt, task.max_steps)
        answer = await self.agent(task, Tools(tools, self), Model(model, self))
        self.note("answer", answer)
        return str(answer)


@dataclass
class Tools:
    inner: Any
    diary: Diary

    @property
    def specs(self) -> Any:
        return self.inner.specs

    def limit(self, name: str) -> Any:
        return self.inner.limit(name)

    async def call(self, name: str, args: Mapping[str, Any] | None = None, *, id: str | None = None) -> Any:
        self.diary.note("call", name, args, id)
        try:
            value = await self.inner.call(name, args, id=id)
        except Exception as error:
            self.diary.note("raised", type(error).__name__, str(error))
            raise
        self.diary.note("result", type(value).__name__, value)
        return value


@dataclass
class Model:
    inner: Any
    diary: Diary

    async def complete(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]] = ()
    ) -> dict[str, Any]:
        self.diary.note("messages", [dict(message) for message in messages], list(tools))
        reply: dict[str, Any] = await self.inner.complete(messages, tools)
        self.diary.note("reply", reply)
        return reply


async def looks_round(task: Any, tools: Any, model: Any) -> str:
    """A native agent that asks its model once, then uses tools as it likes, in vain too."""
    await model.complete([{"role": "user", "content": task.prompt}], tools.specs)
    seen = []
    for name, args in (
        ("list_files", {}),
        ("read_file", {"path": "not/there.txt"}),
        ("write_file", {"path": "new.txt", "text": "a\u00e9"}),
        ("read_file", {"path": "new.txt", "offset": 1}),
    ):
        if any(spec["function"]["name"] == name for spec in tools.specs):
            try:
                seen.append(await tools.call(name, args))
            except Exception as error:
                seen.append(type(error).__name__)
    return f"{seen}\nDONE"


def with_us(name: str, agent: Any) -> tuple[list[bytes], Mapping[str, Any]]:
    diary = Diary(agent)

    async def seated(task: Any, tools: Any, model: Any) -> str:
        return await diary(task, tools, model)

    with table.seated(seated) as bench:
        trial = table.play(name, by=bench)
    after = next(snapshot.resources for _, snapshot in find(trial.trace, Snapshot))
    return diary.lines, after


def without_us(name: str, agent: Any) -> tuple[list[bytes], Mapping[str, Any]]:
    diary = Diary(agent)
    _, world = asyncio.run(bare.run(table.scenario(name), diary))
    try:
        return diary.lines, plain(world.resources())
    finally:
        world.close()


@pytest.mark.parametrize("name", table.NAMES)
@pytest.mark.parametrize("agent", [reference.agent, looks_round], ids=["reference", "native"])
def test_the_agent_cannot_tell_that_we_are_there(name: str, agent: Any) -> None:
    ours, theirs = with_us(name, agent), without_us(name, agent)
    assert ours[0] == theirs[0]
    assert dict(ours[1]) == dict(theirs[1])
    assert len(ours[0]) > 5


def test_a_fault_would_be_noticed() -> None:
    """Else the test above could not fail."""
    diary = Diary(reference.agent)

    async def seated(task: Any, tools: Any, model: Any) -> str:
        return await diary(task, tools, model)

    with table.seated(seated) as bench:
        table.play("sum_orders", "timeout.raises:read_file(orders.csv)", by=bench)
    assert diary.lines != without_us("sum_orders", reference.agent)[0]
