from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from forge_chaos import catalog
from forge_chaos.events import Injected, find
from forge_chaos.notation import parse
from forge_chaos.nouns import Call, Err, Ok, Rule, Tool, Variant
from forge_chaos.recorder import Recorder
from forge_chaos.turngate import PLAIN, TurnGate
from tests.gates import Planned

FAULTS = catalog.faults()
VARIANTS = [(f, v) for f in FAULTS.values() for v in f.variants if (v.seam or f.seam) == "turn"]
WINDOW = "truncated_context.session_window"


def sent(rules: Sequence[Any], turns: int) -> tuple[list[Mapping[str, Any]], list[Injected], TurnGate]:
    """What goes with so many messages, four model requests each, and what was recorded."""

    async def trial() -> tuple[list[Mapping[str, Any]], list[Injected], TurnGate]:
        record = Recorder(lambda: 0.0)
        gate = TurnGate(rules, record, lambda: 0.0)
        found = [await gate(turn, 4 * turn) for turn in range(1, turns + 1)]
        return found, [body for _, body in find(record.trace, Injected)], gate

    return asyncio.run(trial())


def test_without_a_rule_nothing_is_asked() -> None:
    assert sent([], 2)[:2] == ([PLAIN, PLAIN], [])


def test_a_rule_of_another_seam_is_no_business_of_this_one() -> None:
    assert sent([catalog.resolve(parse("cancelled@1.."), FAULTS)], 2)[:2] == ([PLAIN, PLAIN], [])


@pytest.mark.parametrize(
    ("rule", "windows", "requests"),
    [
        (f"{WINDOW}@2", [None, 2, None], [8]),
        (f"{WINDOW}@2..", [None, 2, 2], [8, 12]),
        (f"{WINDOW}@1", [None, None, None], []),
        (f"{WINDOW}@3", [None, None, 2], [12]),
    ],
)
def test_messages_are_counted_from_one(rule: str, windows: list[int | None], requests: list[int]) -> None:
    found, injected, _ = sent([catalog.resolve(parse(rule), FAULTS)], 3)
    assert [each["window"] for each in found] == windows
    assert [(each.request, each.call) for each in injected] == [(number, None) for number in requests]


def test_the_first_rule_has_the_last_word() -> None:
    def to(newest: int, first: bool) -> Planned:
        async def put(call: Call, tool: Tool, env: Any) -> Ok | Err:
            env.fire()
            if first:
                return await tool(Call(call.id, call.tool, {"window": newest}))
            result = await tool(call)
            assert isinstance(result, Ok)
            return Ok({"window": newest + result.value["window"]})

        return Planned(Rule("f", first=2, last=2), put, "turn")

    found, injected, _ = sent([to(30, False), to(7, True)], 2)
    assert (found[1]["window"], len(injected)) == (37, 2)


def test_what_a_mechanism_of_ours_raises_is_kept_and_nothing_is_asked() -> None:
    async def breaks(call: Call, tool: Tool, env: Any) -> Ok | Err:
        raise KeyError("window")

    found, _, gate = sent([Planned(Rule("f"), breaks, "turn")], 1)
    assert found == [PLAIN]
    assert isinstance(gate.broken, KeyError)


@pytest.mark.parametrize(("fault", "variant"), VARIANTS, ids=[f"{f.id}.{v.id}" for f, v in VARIANTS])
def test_every_variant_asks_something_of_a_second_message(fault: Any, variant: Variant) -> None:
    found, injected, _ = sent([catalog.resolve(Rule(fault.id, variant.id, 2, 2), FAULTS)], 2)
    assert found[1] != PLAIN
    assert len(injected) == 1
