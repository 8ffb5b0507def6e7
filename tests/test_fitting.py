"""Which scenarios an agent can be tried on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forge_chaos import catalog, fitting, notation
from forge_chaos.bench import Bench, Setup
from forge_chaos.errors import Misuse
from forge_chaos.nouns import Scenario, ToolSpec, Turn
from tests.test_mapping import own

SUM = catalog.load("sum_orders", 1)
SHOP = own(read_text=("file_path",), save_file=("file_path", "content"), list_files=("path?",))


@pytest.mark.parametrize("agent", [None, "reference", "framework:pydantic-ai"])
def test_who_plays_the_scripted_model_needs_a_solution(agent: str | None) -> None:
    assert fitting.unfit(SUM, Setup(agent=agent), None) is None
    why = fitting.unfit(replace(SUM, solve=None), Setup(agent=agent), None)
    assert why is not None
    assert "no solution.py" in why


@pytest.mark.parametrize("setup", [Setup(agent="shop:agent"), Setup(model="openai:x")])
def test_who_has_a_head_of_its_own_does_not(setup: Setup) -> None:
    assert fitting.unfit(replace(SUM, solve=None), setup, None) is None


@pytest.mark.parametrize(
    ("scenario", "tools", "why"),
    [
        (SUM, SHOP, None),
        (replace(SUM, solve=None), SHOP, None),
        (SUM, own(read_text=("path",)), "the agent has no tool for write_file"),
        (replace(SUM, roles=("read", "execute")), SHOP, "the agent has no tool for execute"),
        (
            catalog.load("charge_once", 1),
            SHOP,
            "its world 'records' has no place in an agent that brings its own tools",
        ),
    ],
)
def test_who_brings_tools_needs_those_of_the_scenario(
    scenario: Scenario, tools: dict[str, ToolSpec], why: str | None
) -> None:
    assert fitting.unfit(scenario, Setup(agent="shop:agent"), tools) == why


def test_tools_are_understood_as_they_were_described() -> None:
    home = Bench(Setup())
    try:
        home.seat = replace(home.seat, specs=SHOP)
        told = fitting.own_tools(home.hello())
    finally:
        home.close()
    assert told == SHOP
    assert fitting.own_tools({"own_tools": None}) is None


def test_who_takes_one_turn_cannot_be_tried_on_several() -> None:
    scenario = replace(SUM, turns=(Turn("and then"),))
    assert fitting.unfit(scenario, Setup(agent="shop:agent"), None) is None
    why = fitting.unfit(scenario, Setup(agent="shop:agent"), None, turns=False)
    assert why == "it has 2 turns, and the agent takes one"


@pytest.mark.parametrize(
    "rule", ["timeout", "timeout:read_*", "timeout@2:read_file(a)", "provider_error:model"]
)
def test_a_rule_may_name_a_tool_that_some_scenario_gives(rule: str) -> None:
    scenarios = [catalog.load("charge_once", 1), SUM]
    fitting.tools_exist([notation.parse(rule)], scenarios, None)


def test_a_tool_that_nobody_has_is_misuse_with_the_near_miss() -> None:
    rule = [notation.parse("missing_file@1:raed_file(a.csv)")]
    with pytest.raises(Misuse, match=r"no tool 'raed_file'\. Did you mean 'read_file'\? Known: .*write_file"):
        fitting.tools_exist(rule, [SUM], None)
    with pytest.raises(Misuse, match=r"no tool 'send_\*'.* Known: .*read_file.*forge-chaos show sum_orders"):
        fitting.tools_exist([notation.parse("timeout:send_*")], [SUM], None)
    with pytest.raises(Misuse, match=r"no tool 'read_file'.*read_text.*forge-chaos inspect AGENT"):
        fitting.tools_exist([notation.parse("timeout:read_file")], [SUM], SHOP)
    fitting.tools_exist(rule, [], None)  # nothing is left to test, which is said otherwise
