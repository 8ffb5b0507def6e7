"""Which scenarios an agent can be tried on, and why not the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from forge_chaos import agents, mapping
from forge_chaos.bench import SCRIPTED, Setup, specs_of
from forge_chaos.errors import unknown
from forge_chaos.notation import write
from forge_chaos.nouns import Rule, Scenario, ToolSpec
from forge_chaos.schedule import matches

MODEL = "model"


def unfit(
    scenario: Scenario, setup: Setup, own: Mapping[str, ToolSpec] | None, turns: bool = True
) -> str | None:
    """Why this agent cannot be tried on the scenario, in a part of a sentence; None when it can.

    `own` are the tools of an agent that brings its own; `turns`: it takes further turns in one session.
    """
    if scenario.turns and not turns:
        return f"it has {len(scenario.turns) + 1} turns, and the agent takes one"
    if own is not None:
        return _without(scenario, own)
    borrowed = setup.agent is None or agents.stock(setup.agent)
    if borrowed and scenario.solve is None and setup.model == SCRIPTED:
        return "it has no solution.py for the scripted model to play; name an --agent or a --model"
    return None


def _without(scenario: Scenario, own: Mapping[str, ToolSpec]) -> str | None:
    if scenario.world != "files":
        return f"its world {scenario.world!r} has no place in an agent that brings its own tools"
    lacking: list[str] = [role for role in scenario.roles if not any(role in s.roles for s in own.values())]
    lacking += mapping.missing(scenario, mapping.mapped(scenario, specs_of(scenario), own))
    return f"the agent has no tool for {', '.join(lacking)}" if lacking else None


def tools_exist(
    rules: Iterable[Rule], scenarios: Sequence[Scenario], own: Mapping[str, ToolSpec] | None
) -> None:
    """Raises Misuse for a rule that names a tool which none of these scenarios gives and the agent, where it
    brings its own, has not: it could never fire. `model` is what rules call the model."""
    named = [rule for rule in rules if not matches(Rule("", tool=rule.tool), MODEL, None)]
    if not named or not scenarios:
        return
    tools = own if own is not None else {name: spec for s in scenarios for name, spec in specs_of(s).items()}
    for rule in named:
        if not any(matches(Rule("", tool=rule.tool), tool, None) for tool in tools):
            way = f"forge-chaos show {scenarios[0].name}" if own is None else "forge-chaos inspect AGENT"
            raise unknown("tool", rule.tool, tools, write(rule), way)


def own_tools(hello: Mapping[str, Any]) -> dict[str, ToolSpec] | None:
    """The tools that an agent brings, as its process described them; None when it takes the scenario's."""
    if hello["own_tools"] is None:
        return None
    return {
        name: ToolSpec(
            name,
            said["description"],
            said["parameters"],
            frozenset(said["roles"]),
            said["target"],
            said["limit"],
            said["poll"],
            settle=said["settle"],
        )
        for name, said in hello["own_tools"].items()
    }
