"""Every variant of every fault file, through the real gate: it fires, and does what it says."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from forge_chaos import catalog, natural, sweep
from forge_chaos.clock import VirtualLoop
from forge_chaos.events import Abandoned, Called, Executed, Injected, Returned, Trace, find
from forge_chaos.gate import ToolGate
from forge_chaos.modelgate import ModelGate
from forge_chaos.nouns import Err, Fault, Ok, Rule, Scenario, Variant
from forge_chaos.ports import World
from forge_chaos.recorder import Recorder
from forge_chaos.worlds.records import records

FAULTS = catalog.faults()
Asked = tuple[str, dict[str, Any]]
FILES = {
    "data/orders.csv": b"id,amount\n1000,10\n2000,20\n3000,30\n",
    "order.json": b'{"id": "O1", "amount": 12}',
    "old.txt": b"1",
}
CALLS: tuple[Asked, ...] = (
    ("read_file", {"path": "data/orders.csv"}),
    ("read_file", {"path": "order.json"}),
    ("list_files", {"path": "data"}),
    ("write_file", {"path": "old.txt", "text": "2"}),
    ("append_file", {"path": "old.txt", "text": "2"}),
    ("edit_file", {"path": "old.txt", "old": "1", "new": "2"}),
    ("move_file", {"source": "old.txt", "destination": "new.txt"}),
    ("delete_file", {"path": "old.txt"}),
    ("run_command", {"command": "report old.txt"}),
    ("create_record", {"table": "orders", "id": "O2", "fields": {"amount": 1}}),
    ("update_record", {"table": "orders", "id": "O1", "fields": {"amount": 1}}),
    ("charge", {"order": "O1", "amount": 12.5}),
    ("refund", {"order": "O1", "amount": 12.5}),
    ("send_mail", {"to": "a@example.org", "subject": "s", "text": "t"}),
    ("start_job", {"name": "build"}),
)
TOOL = [(f, v) for f in FAULTS.values() for v in f.variants if (v.seam or f.seam) == "tool"]
MODEL = [(f, v) for f in FAULTS.values() for v in f.variants if (v.seam or f.seam) == "model"]
UNTOUCHED = {  # the real tool does not run at once
    *(f"missing_file.{v.id}" for v in FAULTS["missing_file"].variants),
    *("timeout.raises", "timeout.hangs", "timeout.waits_for_input"),
    *(f"blocked_command.{v.id}" for v in FAULTS["blocked_command"].variants),
    *(f"tool_exception.{v.id}" for v in FAULTS["tool_exception"].variants),
    *("lost_reply.not_done_timeout", "lost_reply.done_later"),
    *("silent_noop.says_done", "silent_noop.ok_false"),
}


def named(pair: tuple[Fault, Variant]) -> str:
    return f"{pair[0].id}.{pair[1].id}"


def fresh() -> World:
    """The world that every trial here begins with. Its one command says something and changes a file."""

    def report(args: list[str], workspace: Any) -> str:
        workspace.write("reported", b"yes")
        return "first line of the report\nsecond line of the report\n"

    rows = {"orders": {"O1": {"amount": 5}}}
    return records(
        Scenario("t", "", world="records", files=FILES, records=rows, commands={"report": report}),
        asyncio.sleep,
    )


@dataclass(frozen=True)
class Met:
    """What the calls met: their results (None: never came), the trace, the world once all has settled."""

    results: tuple[Ok | Err | None, ...]
    trace: Trace
    resources: Mapping[str, Any]

    def count(self, kind: type[Any]) -> int:
        return sum(1 for _ in find(self.trace, kind))


def meet(rules: Sequence[Rule], *calls: Asked) -> Met:
    """Calls in turn, by a caller that waits 40 s for each; then the settle time passes."""
    loop = VirtualLoop()

    async def trial() -> Met:
        world = fresh()
        record = Recorder(loop.time)
        resolved = [catalog.resolve(rule, FAULTS) for rule in rules]
        gate = ToolGate(resolved, world.specs, record, loop.time, world=world)
        results: list[Ok | Err | None] = []
        for tool, args in calls:
            try:
                results.append(await asyncio.wait_for(gate(tool, args, world.tools[tool]), 40))
            except TimeoutError:
                results.append(None)
        await asyncio.sleep(100)
        assert gate.broken is None
        return Met(tuple(results), record.trace, world.resources())

    try:
        return loop.run_until_complete(trial())
    finally:
        loop.close()


def suitable(fault: Fault, variant: Variant) -> list[Asked]:
    """The calls above on which a sweep would try the variant."""
    found = []
    for tool, args in CALLS:
        spec = records.specs[tool]
        clean = meet((), (tool, args))
        called = next(called for _, called in find(clean.trace, Called))
        told = next(returned.result for _, returned in find(clean.trace, Returned))
        assert told.ok, (tool, told)
        if spec.roles & set(variant.roles or fault.roles) and all(
            sweep.NEEDS[need](called, told, {"settle": spec.settle, "target": spec.target})
            for need in variant.needs
        ):
            found.append((tool, args))
    return found


@pytest.mark.parametrize(("fault", "variant"), TOOL, ids=map(named, TOOL))
def test_it_fires_on_every_call_that_a_sweep_would_try_and_touches_the_world_as_it_says(
    fault: Fault, variant: Variant
) -> None:
    calls = suitable(fault, variant)
    assert calls
    for asked in calls:
        met = meet([Rule(fault.id, variant.id)], asked)
        assert met.count(Injected) == 1, asked
        assert met.count(Returned) + met.count(Abandoned) == 1
        ran_at_once = any(event.at == 0 for event in met.trace if isinstance(event.body, Executed))
        assert ran_at_once == (named((fault, variant)) not in UNTOUCHED), asked
        assert met.results != meet((), asked).results or variant.id == "says_done"


@pytest.mark.parametrize(("fault", "variant"), TOOL, ids=map(named, TOOL))
def test_every_wording_reaches_the_agent_with_nothing_left_to_fill_in(fault: Fault, variant: Variant) -> None:
    asked = suitable(fault, variant)[0]
    shown = set()
    for text in variant.text:
        result = meet([Rule(fault.id, variant.id, text=text)], asked).results[0]
        assert result is not None
        told = str(result.value) if isinstance(result, Ok) else natural.wording(result, "data/orders.csv")
        assert not re.search(r"\{(target|tool|limit|shown|total)\}", told)
        shown.add(told)
    assert len(shown) == len(variant.text)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_no_two_variants_of_a_class_are_the_same(fault: Fault) -> None:
    seen: dict[str, str] = {}
    for variant in fault.variants:
        if (variant.seam or fault.seam) != "tool":
            continue
        for lasts in variant.lasts:
            story = []
            for tool, args in suitable(fault, variant):
                rule = Rule(fault.id, variant.id, last=None if lasts == "ever" else 1, tool=tool)
                met = meet(
                    [rule],
                    (tool, args),
                    ("list_files", {}),
                    ("search_files", {"pattern": "1000"}),
                    (tool, args),
                )
                bodies = [event for event in met.trace if not isinstance(event.body, Injected)]
                story.append((bodies, met.resources))
            assert repr(story) not in seen, (variant.id, seen.get(repr(story)))
            seen[repr(story)] = f"{variant.id} {lasts}"


def test_what_says_done_cannot_be_told_from_the_tools_own_reply() -> None:
    for tool, args in suitable(FAULTS["silent_noop"], FAULTS["silent_noop"].variant("says_done")):
        met, honest = meet([Rule("silent_noop")], (tool, args)), meet((), (tool, args))
        told, real = met.results[0], honest.results[0]
        assert isinstance(told, Ok)
        assert isinstance(real, Ok)
        returns = records.specs[tool].returns
        assert returns is not None
        assert re.fullmatch(returns, told.value)
        assert re.sub(r"\d+", "N", told.value) == re.sub(r"\d+", "N", real.value) or tool == "run_command"
        assert met.resources == meet(()).resources


def test_what_lands_later_is_not_there_at_once_and_is_there_in_the_end() -> None:
    write: Asked = ("write_file", {"path": "old.txt", "text": "2"})
    met = meet([Rule("lost_reply", "done_later")], write, ("read_file", {"path": "old.txt"}))
    assert met.results[1] == Ok("1")
    assert met.resources["old.txt"] == "2"


def test_convicts_bars_and_roles_are_stated() -> None:
    for fault in FAULTS.values():
        assert fault.convicts, fault.id
        assert set(fault.bar) == {"once", "ever"}
        assert fault.roles, fault.id
        assert set(fault.convicts) <= {"stubborn", "naive", "gullible", "impatient", "circumvent"}


@pytest.mark.parametrize(("fault", "variant"), MODEL, ids=map(named, MODEL))
def test_at_the_model_seam_the_request_changes_and_the_agents_messages_do_not(
    fault: Fault, variant: Variant
) -> None:
    asks = {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
    pair = [
        {"role": "assistant", "content": None, "tool_calls": [asks]},
        {"role": "tool", "tool_call_id": "c1", "content": "text"},
    ]
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "task"}, *pair, *pair]
    before = repr(messages)
    sent: list[dict[str, Any]] = []

    async def send(request: dict[str, Any]) -> dict[str, Any]:
        sent.append(request)
        return {"choices": [{"message": {"role": "assistant", "content": "DONE"}}]}

    async def trial() -> Trace:
        record = Recorder(lambda: 0.0)
        gate = ModelGate([catalog.resolve(Rule(fault.id, variant.id), FAULTS)], record, lambda: 0.0)
        reply = await gate({"model": "m", "messages": messages}, send)
        assert reply["choices"][0]["message"]["content"] == "DONE"
        await gate({"model": "m", "messages": messages}, send)
        return record.trace

    trace = asyncio.run(trial())
    assert sum(1 for _ in find(trace, Injected)) == 1
    assert sent[0]["messages"] != messages
    assert sent[1]["messages"] == messages
    assert repr(messages) == before
