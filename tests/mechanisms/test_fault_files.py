"""Every variant of every fault file, through the real gate: it fires, and does what it says."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import pytest

from forge_chaos import catalog, natural, sweep
from forge_chaos.clock import VirtualLoop
from forge_chaos.events import Abandoned, Called, Executed, Injected, Returned, Started, Trace, find
from forge_chaos.gate import ToolGate
from forge_chaos.modelgate import ModelGate
from forge_chaos.modelserver.errors import ProviderError
from forge_chaos.notation import parse
from forge_chaos.nouns import Err, Fault, Lasts, Ok, Rule, Scenario, Variant
from forge_chaos.ports import World
from forge_chaos.recorder import Recorder
from forge_chaos.trial import described
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
STORIES: tuple[tuple[Asked, ...], ...] = (  # where the calls round it matter, too
    (CALLS[1], ("write_file", {"path": "order.json", "text": "{}"}), CALLS[1]),
    (CALLS[0], ("append_file", {"path": "data/orders.csv", "text": "4000,40\n"})),
)
BATCH = (CALLS[0], CALLS[1])
SHELL = ("restart", "outlive")  # need a real shell, on disk: see test_restart, test_outlive
TOOL = [
    (f, v)
    for f in FAULTS.values()
    for v in f.variants
    if (v.seam or f.seam) == "tool" and v.mechanism not in SHELL
]
MODEL = [(f, v) for f in FAULTS.values() for v in f.variants if (v.seam or f.seam) == "model"]
ASKED = [(f, v) for f, v in MODEL if v.mechanism == "history"]  # these change the request
REPLIED = [(f, v) for f, v in MODEL if v.mechanism != "history"]  # and these the reply
NOTHING_RUNS = ("disk_full", "rate_limited", "session_lost", "unavailable")
UNTOUCHED = {  # the real tool does not run at once
    *(f"missing_file.{v.id}" for v in FAULTS["missing_file"].variants),
    *("timeout.raises", "timeout.hangs", "timeout.waits_for_input"),
    *(f"blocked_command.{v.id}" for v in FAULTS["blocked_command"].variants),
    *(f"tool_exception.{v.id}" for v in FAULTS["tool_exception"].variants),
    *("lost_reply.not_done_timeout", "lost_reply.done_later"),
    *("silent_noop.says_done", "silent_noop.ok_false"),
    *(f"{name}.{v.id}" for name in NOTHING_RUNS for v in FAULTS[name].variants),
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
        Scenario(
            "t",
            "",
            world="records",
            files=FILES,
            records=rows,
            commands={"report": report},
            shared=("data/orders.csv",),
        ),
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


def meet(rules: Sequence[Rule], *calls: Asked, batch: bool = False, pause: float = 0.0) -> Met:
    """Calls in turn with a pause after each, or as one batch, by a caller that waits 40 s for an answer;
    then the settle time passes."""
    loop = VirtualLoop()

    async def trial() -> Met:
        world = fresh()
        record = Recorder(loop.time)
        resolved = [catalog.resolve(rule, FAULTS) for rule in rules]
        tools = {name: described(spec) for name, spec in world.specs.items()}
        record(Started, "t", "", "", "", (), 0, 0, "", {}, tools, {}, {}, {}, ("data/orders.csv",))
        gate = ToolGate(resolved, world.specs, record, loop.time, world=world)

        async def ask(asked: Asked, order: tuple[int, int]) -> Ok | Err | None:
            tool, args = asked
            try:
                return await asyncio.wait_for(gate(tool, args, world.tools[tool], order=order), 40)
            except TimeoutError:
                return None

        results: list[Ok | Err | None] = []
        if batch:
            results += await asyncio.gather(*(ask(asked, (1, n)) for n, asked in enumerate(calls)))
        else:
            for turn, asked in enumerate(calls, 1):
                results.append(await ask(asked, (turn, 0)))
                await asyncio.sleep(pause)
        await asyncio.sleep(100)
        assert gate.broken is None
        return Met(tuple(results), record.trace, world.resources())

    try:
        return loop.run_until_complete(trial())
    finally:
        loop.close()


Tried = tuple[Rule, tuple[Asked, ...], bool]


def clean(calls: tuple[Asked, ...], batch: bool) -> Met:
    key = (repr(calls), batch)
    if key not in _clean:
        _clean[key] = meet((), *calls, batch=batch)
        assert all(isinstance(result, Ok) for result in _clean[key].results), calls
    return _clean[key]


_clean: dict[tuple[str, bool], Met] = {}


def tried(fault: Fault, variant: Variant, lasts: Lasts | None = None) -> list[Tried]:
    """The rules that a sweep would try of the variant, each with the calls above on which it would."""
    alone = replace(variant, lasts=variant.lasts if lasts is None else (lasts,))
    found: list[Tried] = []
    groups = [((asked,), False) for asked in CALLS]
    for calls, batch in [*groups, *((story, False) for story in STORIES), (BATCH, True)]:
        if found and len(calls) > 1:
            continue  # what shows on one call need not be looked for in a story
        cells = sweep.cells(clean(calls, batch).trace, [replace(fault, variants=(alone,))])
        found += [(rule, calls, batch) for rule in cells]
    return found


def suitable(fault: Fault, variant: Variant) -> list[Asked]:
    """The single calls above on which a sweep would try the variant."""
    return list({repr(calls): calls[0] for _, calls, _ in tried(fault, variant) if len(calls) == 1}.values())


@pytest.mark.parametrize(("fault", "variant"), TOOL, ids=map(named, TOOL))
def test_it_fires_on_every_call_that_a_sweep_would_try_and_touches_the_world_as_it_says(
    fault: Fault, variant: Variant
) -> None:
    rules = tried(fault, variant, variant.lasts[0])
    assert rules
    for rule, calls, batch in rules:
        met = meet([rule], *calls, batch=batch)
        assert met.count(Injected) == 1, calls
        assert met.count(Returned) + met.count(Abandoned) == len(calls)
        hit = next(injected.call for _, injected in find(met.trace, Injected))
        at = next(
            event.at for event in met.trace if isinstance(event.body, Called) and event.body.call == hit
        )
        ran_at_once = any(
            event.at == at and event.body.call == hit
            for event in met.trace
            if isinstance(event.body, Executed)
        )
        assert ran_at_once == (named((fault, variant)) not in UNTOUCHED), calls
        honest = clean(calls, batch)
        changed = (met.results, met.resources, order_of(met)) != (
            honest.results,
            honest.resources,
            order_of(honest),
        )
        assert changed, calls


def order_of(met: Met) -> list[int]:
    """The calls in the order in which they were answered."""
    return [returned.call for _, returned in find(met.trace, Returned)]


@pytest.mark.parametrize(("fault", "variant"), TOOL, ids=map(named, TOOL))
def test_every_wording_reaches_the_agent_with_nothing_left_to_fill_in(fault: Fault, variant: Variant) -> None:
    rule, calls, batch = tried(fault, variant)[0]
    shown = set()
    for text in variant.text:
        results = meet([replace(rule, text=text)], *calls * 2, batch=batch).results
        result = next(result for result in results if result is not None)  # one may die unanswered first
        told = str(result.value) if isinstance(result, Ok) else natural.wording(result, "data/orders.csv")
        assert not re.search(r"\{(target|tool|limit|shown|total)\}", told)
        shown.add(told)
    assert len(shown) == len(variant.text)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_no_two_variants_of_a_class_are_the_same(fault: Fault) -> None:
    seen: dict[str, str] = {}
    for variant in fault.variants:
        if (variant.seam or fault.seam) != "tool" or variant.mechanism in SHELL:
            continue
        for lasts in variant.lasts:
            story = []
            for rule, calls, batch in tried(fault, variant, lasts):
                met = meet(
                    [rule],
                    *calls,
                    ("list_files", {}),
                    ("search_files", {"pattern": "1000"}),
                    *calls * 3,
                    batch=batch,
                    pause=4.0,
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


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_who_is_told_something_can_be_told_it_in_bare_words(fault: Fault) -> None:
    """So that the calls that clear and bare words cost can be held against each other."""
    for variant in fault.variants:
        if variant.text:
            assert {"clear", "bare"} <= set(variant.text), variant.id
            assert variant.text["clear"] != variant.text["bare"]


@pytest.mark.parametrize("name", [*NOTHING_RUNS, "partial_write"])
def test_the_later_classes_can_mislead_as_well(name: str) -> None:
    explicit = [variant for variant in FAULTS[name].variants if variant.explicit]
    assert explicit
    assert all("misleading" in variant.text for variant in explicit)


def test_one_member_of_a_batch_fails_and_the_others_do_not() -> None:
    for name in ("rate_limited", "unavailable", "empty_output"):
        met = meet([parse(f"{name}:read_file+member=2")], *BATCH, batch=True)
        honest = clean(BATCH, True)
        assert met.results[0] == honest.results[0]
        assert met.results[1] != honest.results[1]


def test_a_slow_member_is_overtaken_within_its_limit() -> None:
    met = meet([parse("timeout.out_of_order:read_file(data/orders.csv)")], *BATCH, batch=True)
    assert met.results == clean(BATCH, True).results
    assert order_of(met) == [2, 1]
    assert met.trace[-1].at < records.specs["read_file"].limit


def test_when_the_environment_is_gone_every_tool_is() -> None:
    met = meet([parse("session_lost.gone_for_good@1..:read_file(order.json)")], CALLS[1], *CALLS[2:6])
    assert len(set(map(repr, met.results))) == 1
    assert isinstance(met.results[0], Err)
    assert met.count(Executed) == 0


def test_a_full_disk_is_full_for_every_writer() -> None:
    write: Asked = ("write_file", {"path": "new.txt", "text": "2"})
    other: Asked = ("append_file", {"path": "old.txt", "text": "2"})
    delete: Asked = ("delete_file", {"path": "order.json"})
    met = meet([parse("disk_full@1..:write_file(new.txt)")], write, other, delete, write, other)
    assert [isinstance(result, Ok) for result in met.results] == [False, False, True, True, True]


def test_convicts_bars_and_roles_are_stated() -> None:
    for fault in FAULTS.values():
        assert fault.convicts, fault.id
        lasts = {lasts for variant in fault.variants for lasts in variant.lasts}
        assert set(fault.bar) == {"once", "ever"} | (lasts & {"burst"})
        assert fault.roles or fault.seam == "model", fault.id


@pytest.mark.parametrize(("fault", "variant"), ASKED, ids=map(named, ASKED))
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


@pytest.mark.parametrize(("fault", "variant"), REPLIED, ids=map(named, REPLIED))
def test_at_the_model_seam_the_reply_changes_and_the_one_that_was_given_does_not(
    fault: Fault, variant: Variant
) -> None:
    asks = [
        {"id": id, "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a.csv"}'}}
        for id in ("c1", "c2")
    ]
    message = {"role": "assistant", "content": "Let me look.", "tool_calls": asks}
    given = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    before = repr(given)
    parameters = {"properties": {"path": {"type": "string"}}, "required": ["path"]}
    tools = [{"type": "function", "function": {"name": "read_file", "parameters": parameters}}]
    request = {"model": "m", "messages": [{"role": "user", "content": "task"}], "tools": tools}

    async def send(request: dict[str, Any]) -> dict[str, Any]:
        return given

    async def trial() -> Trace:
        record = Recorder(lambda: 0.0)
        gate = ModelGate([catalog.resolve(Rule(fault.id, variant.id), FAULTS)], record, lambda: 0.0)
        with suppress(ProviderError, ConnectionError):
            assert await gate(request, send) != given
        assert await gate(request, send) is given
        return record.trace

    trace = asyncio.run(trial())
    assert sum(1 for _ in find(trace, Injected)) == 1
    assert repr(given) == before
