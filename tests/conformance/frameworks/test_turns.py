"""What an adapter has to keep that takes further turns: one conversation in a trial, and none after it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forge_chaos import agents
from forge_chaos.events import Executed, Injected, Noted, Trace, find
from forge_chaos.nouns import Call, Err, Ok, Rule, Tool
from forge_chaos.ports import Seat
from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.play import shown, trial_of
from tests.conformance.frameworks.test_conformance import reader
from tests.conformance.frameworks.wire import PROMPT, THEN, Wire
from tests.gates import Planned

pytestmark = pytest.mark.slow


def conversation(kit: Kit, rules: list[Any] | None = None) -> tuple[Wire, Seat, Trace]:
    """A trial of two turns, each with a call of its own."""
    wire = Wire([[(kit.tool, {kit.argument: "a.csv"})]], [[(kit.tool, {kit.argument: "b.csv"})]])
    seat = agents.seat_of(kit.build([reader(kit.kinds[0])], wire))
    if not seat.turns:
        pytest.skip(f"the adapter {kit.name} takes one turn")
    return wire, seat, again(kit, wire, seat, rules)


def again(kit: Kit, wire: Wire, seat: Seat, rules: list[Any] | None = None) -> Trace:
    wire.rewind()
    return trial_of(seat, rules or [], wire if kit.modelless else None, wire.further)


def ends(trace: Trace) -> list[str]:
    return [body.detail["end"] for _, body in find(trace, Noted) if body.what == "turn_ended"]


def test_the_second_message_goes_on_in_the_conversation_of_the_first(kit: Kit) -> None:
    wire, _, trace = conversation(kit)
    assert ends(trace) == ["answered"]
    last = json.dumps(shown(wire.bodies[-1]))
    assert last.index(PROMPT) < last.index("text of a.csv") < last.index(THEN) < last.index("text of b.csv")
    assert len(list(find(trace, Executed))) == 2


def test_the_next_trial_knows_nothing_of_it(kit: Kit) -> None:
    wire, seat, _ = conversation(kit)
    first = [shown(body) for body in wire.bodies]
    again(kit, wire, seat)
    assert [shown(body) for body in wire.bodies] == first


def test_the_caller_s_cancel_ends_the_turn_and_the_next_one_is_played(kit: Kit) -> None:
    async def cancel(call: Call, tool: Tool, env: Any) -> Ok | Err:
        if env.cancel():
            env.fire()
        await env.sleep(60)
        return await tool(call)

    wire, seat, _ = conversation(kit)
    if not seat.cancels:
        pytest.skip(f"nobody can cancel what {kit.name} runs")
    trace = again(kit, wire, seat, [Planned(Rule("cancelled", tool=kit.tool), cancel, "caller")])
    assert len(list(find(trace, Injected))) == 1
    assert ends(trace) == ["cancelled"]
    assert THEN in json.dumps(shown(wire.bodies[-1])), "the model was asked again"
