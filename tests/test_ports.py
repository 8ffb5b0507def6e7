"""The shapes of the leaves: every leaf of the package has the one that `ports` says."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from forge_chaos import ports, registry
from forge_chaos.gate import Environment, ToolGate
from forge_chaos.nouns import Answer, Scenario
from forge_chaos.ports import Env, Gate, Seat, World

LEAVES = [
    (package, name)
    for package in ("mechanisms", "graders", "personas", "renderers", "worlds")
    for name in registry.names(package)
]
FIRST = {
    "mechanisms": ["call", "tool", "env"],
    "graders": ["trace"],
    "personas": ["step", "mind"],
    "renderers": ["card", "trials"],
    "worlds": ["scenario", "sleep", "root"],
}


def positional(function: Any) -> list[str]:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in inspect.signature(function).parameters.values() if p.kind in kinds]


@pytest.mark.parametrize(("package", "name"), LEAVES)
def test_a_leaf_takes_what_its_port_says(package: str, name: str) -> None:
    function = registry.leaf(package, name)
    assert positional(function) == FIRST[package]
    assert inspect.iscoroutinefunction(function) is (package in ("mechanisms", "personas"))


@pytest.mark.parametrize("name", registry.names("worlds"))
def test_a_world_is_one(name: str) -> None:
    async def sleep(seconds: float) -> None:
        """Never called."""

    world = registry.leaf("worlds", name)(Scenario("x", "y"), sleep)
    try:
        assert set(vars_of(World)) <= set(dir(world))
        assert set(world.specs) == set(world.tools)
        assert world.touched() == ()
        assert world.processes() == []
    finally:
        world.close()


@pytest.mark.parametrize("name", registry.names("adapters"))
def test_an_adapter_is_one(name: str) -> None:
    adapter = registry.module("adapters", name).adapter
    assert adapter.name.replace("-", "_") == name
    assert adapter.time in ("virtual", "real")
    assert adapter.order
    assert not adapter.recognises(object())


def vars_of(protocol: type) -> set[str]:
    return {name for name in (*protocol.__annotations__, *vars(protocol)) if not name.startswith("_")}


def test_the_gate_and_its_environment_have_the_shapes_of_their_ports() -> None:
    assert vars_of(Env) <= set(Environment.__dataclass_fields__) | set(dir(Environment))
    assert positional(ToolGate.__call__) == positional(Gate.__call__)


def test_a_seat_says_the_least_by_default() -> None:
    async def agent(task: Any, specs: Any, tools: Any, gate: Any, model: Any) -> Answer:
        return Answer()

    seat = Seat(agent, "native")
    assert (seat.specs, seat.inline, seat.honest, seat.claims) == (None, False, (), False)


def test_exports_exist() -> None:
    assert all(hasattr(ports, name) for name in ports.__all__)
