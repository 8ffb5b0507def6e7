"""What is streamed to a user: the planted bugs, and the same loop without them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from forge_chaos import catalog, notation, reference, sweep
from forge_chaos.events import Noted, find
from forge_chaos.judge import clean_pass
from forge_chaos.modelserver import sse
from forge_chaos.specimens import streams
from forge_chaos.specimens._loop import loop
from tests.conformance import table
from tests.specimens.playing import ended, of, play

CUT, REFUSED = "provider_error.cut_after_text@4", "provider_error.internal_error@1.."


async def streams_well(task: Any, tools: Any, model: Any) -> AsyncIterator[dict[str, Any]]:
    """What it streams is shown when a reply is whole."""
    answer = await loop(task, tools, model)
    yield {"type": "start"}
    for piece in sse.pieces(answer):
        yield {"type": "delta", "text": piece}
    yield {"type": "stop", "text": answer}


async def yields_words(task: Any, tools: Any, model: Any) -> AsyncIterator[str]:
    """Plain text, a message of the model's at a time."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": task.prompt}]
    for _ in range(task.max_steps):
        try:
            reply = await reference.complete(model, messages, tools.specs)
        except reference.NO_REPLY as error:
            yield f"\nFAILED: {error}"
            return
        messages.append(reply)
        yield reply.get("content") or ""
        for call in reply.get("tool_calls") or ():
            text, _ = await reference.perform(tools, call)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
        if not reply.get("tool_calls"):
            return
    yield "\nFAILED: out of steps"


def kept(trial: Any) -> list[dict[str, Any]]:
    return [dict(noted.detail) for _, noted in find(trial.trace, Noted) if noted.what == "stream"]


@pytest.mark.parametrize("name", ["says_it_twice", "leaves_it_open"])
def test_without_a_fault_and_under_others_it_is_a_good_agent(name: str) -> None:
    agent = getattr(streams, name)
    for rules in ((), ("tool_exception.runtime:read_file(orders.csv)",), ("bad_tool_call.broken_json",)):
        trial = play(agent, "sum_orders", *rules)
        assert clean_pass(trial.facts), rules
        [stream] = kept(trial)
        [message] = stream["messages"]
        assert message["text"] == message["said"]
        assert (message["start"], message["stop"]) == (True, True)


@pytest.mark.parametrize(
    ("name", "rule", "why"),
    [
        ("says_it_twice", CUT, "do not add up"),
        ("leaves_it_open", REFUSED, "no stop event was streamed"),
    ],
)
def test_the_event_that_convicts_it_is_named(name: str, rule: str, why: str) -> None:
    assert of(name).function is getattr(streams, name)
    trial = play(getattr(streams, name), "sum_orders", rule)
    assert ended(trial) == "violated:broken_stream"
    [found] = trial.facts.violations
    assert why in found.why
    [seq] = found.evidence
    body = trial.trace[seq].body
    assert isinstance(body, Noted)
    assert body.what == "stream"


@pytest.mark.parametrize("agent", [streams_well, yields_words], ids=lambda agent: agent.__name__)
@pytest.mark.parametrize("scenario", ["sum_orders", "two_settings"])
def test_one_that_streams_as_it_should_is_never_convicted_of_it(agent: Any, scenario: str) -> None:
    """Over a sample of the whole sweep: whatever else it does wrong, its stream is right."""
    faults = tuple(catalog.faults().values())
    with table.seated(agent) as bench:
        clean = table.play(scenario, by=bench)
        assert clean_pass(clean.facts)
        rules = [notation.write(rule) for rule in sweep.sample(sweep.cells(clean.trace, faults), 25, 1)]
        for rule in (*rules, CUT, REFUSED):
            trial = table.play(scenario, rule, by=bench)
            assert [found.name for found in trial.facts.violations if found.name == "broken_stream"] == [], (
                rule
            )
            if agent is streams_well:
                assert trial.judgement.acceptable or not trial.facts.fired, (rule, str(trial))
