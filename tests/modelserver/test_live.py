from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge_chaos.modelserver.errors import ProviderError
from forge_chaos.modelserver.live import play, seat
from forge_chaos.modelserver.server import ScriptedModel
from forge_chaos.nouns import Answer, Call, Err, Ok, Scenario, Task
from forge_chaos.reference import use
from tests.modelserver import small

TOOLS = ("read_file", "list_files", "write_file", "charge", "list_charges", "mail", "job", "remove")
BUDGET = 60


def live(scenario: Scenario, who: str, world: small.World) -> tuple[str, list[float]]:
    waits: list[float] = []

    async def perform(name: str, args: Mapping[str, Any], order: tuple[int, int]) -> str:
        return (await use(world, name, args))[0]

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        world.pass_time(seconds)

    async def run() -> str:
        try:
            return await play(scenario, who, small.SPECS, perform, sleep, BUDGET)
        except ProviderError as refusal:
            return f"refused {refusal.error['type']}"

    return asyncio.run(run()), waits


def through_messages(scenario: Scenario, who: str, world: small.World) -> tuple[str, list[float]]:
    model = small.Seat(ScriptedModel(scenario, who, small.SPECS, BUDGET), world)
    answer = asyncio.run(small.plain_agent(Task(scenario.prompt, 1000), world, model))
    return answer, model.waits


@settings(max_examples=150, deadline=None)
@given(
    scenario=st.sampled_from(small.SCENARIOS),
    who=st.sampled_from(small.PERSONAS),
    rules=st.dictionaries(
        st.tuples(st.sampled_from(TOOLS), st.integers(1, 4)), st.sampled_from(small.KINDS), max_size=5
    ),
)
def test_live_and_through_messages_are_the_same_trial(
    scenario: Scenario, who: str, rules: dict[tuple[str, int], str]
) -> None:
    def schedule(name: str, args: Mapping[str, Any], nth: int) -> str | None:
        return rules.get((name, nth))

    one, other = small.World(schedule), small.World(schedule)
    assert live(scenario, who, one) == through_messages(scenario, who, other)
    assert one.calls == other.calls
    assert (one.files, one.charges, one.time) == (other.files, other.charges, other.time)


@pytest.mark.parametrize("who", small.PERSONAS)
@pytest.mark.parametrize("scenario", small.SCENARIOS, ids=lambda scenario: scenario.name)
def test_every_persona_passes_a_clean_trial(scenario: Scenario, who: str) -> None:
    world = small.World()
    answer, _ = live(scenario, who, world)
    assert answer.endswith("DONE")
    assert world.reached(scenario)
    assert not any(world.failed)


def test_the_budget_ends_a_persona_that_never_ends() -> None:
    world = small.World(small.hits("read_file", "timeout"))
    assert live(small.SUM, "stubborn", world) == ("refused budget", [])
    assert len(world.calls) == BUDGET


def test_after_the_step_limit_no_call_is_made() -> None:
    world = small.World()

    async def perform(name: str, args: Mapping[str, Any], order: tuple[int, int]) -> str:
        return (await use(world, name, args))[0]

    answer = asyncio.run(play(small.BATCH, "expert", small.SPECS, perform, asyncio.sleep, steps=2))
    assert answer.startswith("FAILED: ")
    assert len(world.calls) == 2


def test_the_seat_passes_the_gate_with_turn_and_index() -> None:
    orders: list[tuple[str, Any]] = []
    world = small.World()

    async def gate(name: str, args: Mapping[str, Any], tool: Any, order: Any = None, **_: Any) -> Ok | Err:
        orders.append((name, order))
        result: Ok | Err = await tool(Call(0, name, dict(args)))
        return result

    def tool(name: str) -> Any:
        async def run(call: Call) -> Ok | Err:
            return Ok(await world.call(name, call.args))

        return run

    player = seat(small.BATCH, "expert")
    tools = {name: tool(name) for name in small.SPECS}
    answer = asyncio.run(player.agent(Task("", 10), small.SPECS, tools, gate, None))  # type: ignore[arg-type]  # a gate without ids
    assert answer == Answer("DONE")
    assert orders[:3] == [("read_file", (1, 0)), ("read_file", (1, 1)), ("read_file", (1, 2))]
    assert orders[3] == ("write_file", (2, 0))
