"""Which cells a sweep tries, and which faults an expert must meet: both read off a trace.

A cell is (scenario, tool, target, nth on that target, variant, once or ever). Cells are written with
targets, never with bare numbers, so that a cell means the same for every agent.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from forge_chaos.chat import answers, arguments, asked_for, key_of
from forge_chaos.errors import unknown
from forge_chaos.events import (
    Asked,
    Called,
    Executed,
    Injected,
    Noted,
    Replied,
    Returned,
    Started,
    Told,
    Trace,
    find,
)
from forge_chaos.notation import literal, parse
from forge_chaos.nouns import PATHS, Fault, Rule, Variant, dice
from forge_chaos.recorded import words
from forge_chaos.schedule import matches

BURST = 3
TELLING = 3  # requests at which a variant of the model seam is tried
BRIEF = 1.5  # seconds of a limit that may be waited for in real time
CHANGING = frozenset(("write", "effect"))
ONCE = frozenset(("effect", "execute"))  # roles of what is not done twice without leave
NOWHERE = Started("", "", "", "", (), 0)
DESTINATIONS = frozenset(("destination", "dest", "dst", "new_path"))
_Cell = TypeVar("_Cell")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")


def _value(told: Told) -> Any:
    """What a good result said; a long text is known by its head, a strange value by its repr."""
    value = told.value if told.ok else None
    if isinstance(value, dict) and "$type" in value:
        return value.get("$head") or value.get("$repr") or value.get("$b64") or ""
    return value


def _data(told: Told) -> Any:
    """The same, where text that is JSON counts as what it says."""
    value = _value(told)
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _text(told: Told) -> str:
    value = _value(told)
    return "" if value is None else words(value)


def _number_inside(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(map(_number_inside, value.values() if isinstance(value, dict) else value))
    if isinstance(value, str):
        return bool(_NUMBER.search(value))
    return isinstance(value, int | float) and not isinstance(value, bool)


NEEDS: Mapping[str, Callable[[Called, Told, Mapping[str, Any]], bool]] = {
    "nested": lambda called, told, tool: "/" in (called.target or ""),
    "json": lambda called, told, tool: isinstance(_data(told), dict | list),
    "object": lambda called, told, tool: isinstance(_data(told), dict),
    "list": lambda called, told, tool: isinstance(_data(told), list),
    "text": lambda called, told, tool: isinstance(_value(told), str) and len(_value(told)) >= 8,
    "lines": lambda called, told, tool: len(_text(told).splitlines()) >= 2,
    "numbers": lambda called, told, tool: _number_inside(_data(told)),
    "letters": lambda called, told, tool: any(char.isalpha() for char in _text(told)),
    "value": lambda called, told, tool: _value(told) not in (None, "", [], {}),
    "path": lambda called, told, tool: tool.get("target") in PATHS and called.target not in (None, "", "."),
    "target": lambda called, told, tool: called.target is not None,
    "settles": lambda called, told, tool: (tool.get("settle") or 0) > 0,
    "brief": lambda called, told, tool: (
        called.target is not None and (tool.get("limit") or BRIEF + 1) <= BRIEF
    ),
    "content": lambda called, told, tool: _carries_content(called, tool),
    "rewrites": lambda called, told, tool: (
        "effect" not in tool.get("roles", ()) and _carries_content(called, tool)
    ),
    "telling": lambda called, told, tool: (
        _value(told) not in (None, "", [], {})
        and ("list" in tool.get("roles", ()) or not isinstance(_data(told), list))
    ),
}
"""Conditions of a variant on a call of the clean trace, its result and its tool (as in `Started.tools`),
without which it cannot act."""

AMONG: Mapping[str, Callable[[_Place, Sequence[_Place], Started], bool]] = {
    "batch": lambda place, places, started: _overtaken(place, places),
    "outdated": lambda place, places, started: _outdated(place, places),
    "shared": lambda place, places, started: _read_to_write(place, places, started),
    "elsewhere": lambda place, places, started: _elsewhere(place, places),
}
"""The same where the other calls of the clean trace, and the files that others may change, matter too."""

REQUEST_NEEDS: Mapping[str, Callable[[_Request, Started], bool]] = {
    "history": lambda request, started: any(m.get("role") == "assistant" for m in request.messages),
    "older": lambda request, started: sum(m.get("role") == "assistant" for m in request.messages) > 1,
    "pair": lambda request, started: any(m.get("role") == "tool" for m in request.messages),
    "text": lambda request, started: (
        isinstance(request.reply.get("content"), str) and len(request.reply["content"]) > 1
    ),
    "call": lambda request, started: bool(request.calls),
    "calls": lambda request, started: len(request.calls) > 1,
    "argument": lambda request, started: any(map(arguments, request.calls)),
    "text_argument": lambda request, started: any(
        isinstance(value, str) for call in request.calls for value in arguments(call).values()
    ),
    "required": lambda request, started: any(
        set(arguments(call)) & set(started.tools.get(key_of(call)[0], {}).get("required", ()))
        for call in request.calls
    ),
    "repeatable": lambda request, started: _repeatable(request, started),
}
"""The same for the model seam: the request, the messages that it shows, and the reply that it got."""


@dataclass(frozen=True, slots=True)
class _Request:
    """A model request of the clean trace: its number, all the messages that it showed, and the reply to it."""

    number: int
    messages: tuple[Mapping[str, Any], ...]
    reply: Mapping[str, Any]

    @property
    def calls(self) -> list[Mapping[str, Any]]:
        return asked_for(self.reply)


@dataclass(frozen=True, slots=True)
class _Place:
    """A call of the clean trace as a rule names it. `target` is None where the tool declares none:
    then the rule counts every call of the tool, and `nth` is counted so."""

    called: Called
    told: Told
    nth: int

    def rule(self, fault: str) -> Rule:
        target = "*" if self.called.target is None else literal(self.called.target)
        return Rule(fault, first=self.nth, last=self.nth, tool=literal(self.called.tool), target=target)


def cells(clean: Trace, faults: Sequence[Fault], narrow: Iterable[Rule] = ()) -> tuple[Rule, ...]:
    """Every rule that a sweep of `faults` tries on the scenario of this clean trace.

    In order of the calls, then of faults and variants as given, then once, burst, ever. `narrow` are
    rules of swept items: a fault that some of them name is kept to their variant, tool, target and
    member, and takes their heal and text. A variant whose needs do not hold on a call gets no cell
    there, nor one that has no such text. Raises Misuse for a need that does not exist.
    """
    started = next((s for _, s in find(clean, Started)), NOWHERE)
    wanted = tuple(narrow)
    places, requests = _places(clean), _requests(clean)
    here = _at_the_tools(places, started)
    found: list[Rule] = []
    for place in places:
        tool = started.tools.get(place.called.tool, {})
        roles = set(tool.get("roles", ()))
        for fault, variant in _variants(faults):
            allowed = variant.roles or fault.roles
            seam = variant.seam or fault.seam
            if seam in ("model", "turn") or (allowed and not roles & set(allowed)):
                continue
            if seam == "caller" and not started.cancels:
                continue
            if all(holds(place, tool) for holds in _needs(fault, variant, here)):
                for item in _items(fault, variant, wanted):
                    if matches(replace(item, member=None), place.called.tool, place.called.target):
                        found += _rules(place, places, variant, item)
    for fault, variant in _variants(faults):
        if (variant.seam or fault.seam) != "model":
            continue
        needs = _needs(fault, variant, REQUEST_NEEDS)
        fit = [request for request in requests if all(need(request, started) for need in needs)]
        for request in _telling(fit, started):
            for item in _items(fault, variant, wanted):
                if (item.tool, item.target, item.member) == ("*", "*", None):
                    rule = Rule(fault.id, first=request.number, last=request.number)
                    found += _lasting(rule, variant, item)
    further = [n["turn"] for n in _turns(clean)] if started.windows else []
    for fault, variant in _variants(faults):
        if (variant.seam or fault.seam) != "turn":
            continue
        for turn in further:
            for item in _items(fault, variant, wanted):
                if (item.tool, item.target, item.member) == ("*", "*", None):
                    found += _lasting(Rule(fault.id, first=turn, last=turn), variant, item)
    return tuple(dict.fromkeys(found))


def applies(fault: Fault, clean: Trace, narrow: Iterable[Rule] = ()) -> bool:
    """Has the fault a place in the scenario of this clean trace?"""
    return bool(cells(clean, (fault,), narrow))


def met(trace: Trace) -> tuple[Rule, ...]:
    """The plan that the expert is held to: what this agent met, by tool, target and nth on it.

    An open-ended rule stays open from the first call of each target that it hit. A closed one hits
    exactly what it hit; had it calls left, because the agent asked no more, the last target gets them.
    Hits by chance, or by the place in a batch, become certain and stay what they were. Faults at the
    model seam are left out: their bar is in the file.
    """
    places = _places(trace)
    numbers = {place.called.call: place.nth for place in places}
    texts = [rule for _, started in find(trace, Started) for rule in started.rules]
    hits: dict[str, list[Injected]] = {text: [] for text in texts}
    for _, injected in find(trace, Injected):
        if injected.call is not None:
            hits.setdefault(injected.rule, []).append(injected)
    found: list[Rule] = []
    for text, injections in hits.items():
        rule = parse(text)
        chosen = rule.p < 100 or rule.member is not None
        asked = sum(matches(rule, p.called.tool, p.called.target, _index(p)) for p in places)
        left = 0 if chosen or rule.last is None else max(0, rule.last - asked)
        by_place: dict[tuple[str, str | None], list[int]] = {}
        for injected in injections:
            nth = (
                injected.nth if injected.target is not None else numbers.get(injected.call or 0, injected.nth)
            )
            by_place.setdefault((injected.tool, injected.target), []).append(nth)
        for (tool, target), nths in by_place.items():
            base = replace(
                rule,
                variant=rule.variant or injections[0].variant.partition(".")[2] or None,
                p=100.0,
                tool=literal(tool),
                target="*" if target is None else literal(target),
                member=None,
            )
            if rule.last is None and not chosen:
                found.append(replace(base, first=min(nths), last=None))
                continue
            spans = _spans(nths)
            if (tool, target) == (injections[-1].tool, injections[-1].target):
                spans[-1] = (spans[-1][0], spans[-1][1] + left)
            found += [replace(base, first=first, last=last) for first, last in spans]
    return tuple(found)


def sample(cells: Sequence[_Cell], n: int, seed: int) -> tuple[_Cell, ...]:
    """`n` of the cells, in their order: every fault in turn, then every variant and tool, before any
    of them comes twice. Drawn from the seed. A cell is a rule, or a tuple that ends with one.
    """
    strata: dict[str, dict[tuple[str | None, str], list[int]]] = {}
    for position, cell in enumerate(cells):
        rule: Any = cell[-1] if isinstance(cell, tuple) else cell
        strata.setdefault(rule.fault, {}).setdefault((rule.variant, rule.tool), []).append(position)

    def drawn(what: object) -> float:
        return dice(seed, "sample", what).random()

    ranked: list[tuple[int, int, float, int]] = []
    for fault, groups in strata.items():
        for turn, group in enumerate(sorted(groups, key=lambda key: (drawn((fault, key)), str(key)))):
            within = sorted(groups[group], key=lambda position: (drawn(cells[position]), position))
            ranked += [(rank, turn, drawn(fault), position) for rank, position in enumerate(within)]
    return tuple(cells[position] for position in sorted(rank[-1] for rank in sorted(ranked)[: max(n, 0)]))


def _variants(faults: Sequence[Fault]) -> Iterator[tuple[Fault, Variant]]:
    return ((fault, variant) for fault in faults for variant in fault.variants)


_N = TypeVar("_N")


def _needs(fault: Fault, variant: Variant, table: Mapping[str, _N]) -> list[_N]:
    for name in variant.needs:
        if name not in table:
            raise unknown("need", name, table, f"fault {fault.id}.{variant.id}")
    return [table[name] for name in variant.needs]


def _items(fault: Fault, variant: Variant, narrow: Sequence[Rule]) -> list[Rule]:
    mine = [rule for rule in narrow if rule.fault == fault.id]
    if not mine:
        return [Rule(fault.id)]
    return [
        rule
        for rule in mine
        if rule.variant in (None, variant.id) and (rule.text is None or rule.text in variant.text)
    ]


def _rules(place: _Place, places: Sequence[_Place], variant: Variant, item: Rule) -> Iterator[Rule]:
    """The cells of a variant at a call. With `member`, the rule counts only calls at that place of
    their batch, so the call's number is its number among those."""
    rule = place.rule(item.fault)
    if item.member is not None:
        same = [
            other.called
            for other in places
            if matches(
                replace(rule, member=item.member), other.called.tool, other.called.target, _index(other)
            )
        ]
        if place.called not in same:
            return iter(())
        nth = same.index(place.called) + 1
        rule = replace(rule, first=nth, last=nth, member=item.member)
    return _lasting(rule, variant, item)


def _repeatable(request: _Request, started: Started) -> bool:
    """Does it ask first for a call that may be made again: of a tool that is known to be neither an effect nor a
    command?"""
    tool = key_of(request.calls[0])[0] if request.calls else ""
    roles = frozenset(started.tools.get(tool, {}).get("roles", ()))
    return bool(roles) and not roles & ONCE


def _index(place: _Place) -> int | None:
    return place.called.order[1] if place.called.order is not None else None


def _lasting(rule: Rule, variant: Variant, item: Rule) -> Iterator[Rule]:
    once = replace(rule, variant=variant.id, heal=item.heal, text=item.text)
    ever = replace(once, last=None)
    burst = replace(once, last=rule.first + BURST - 1)
    if variant.heal is not None:
        burst = replace(ever, heal=item.heal or variant.heal)
    cells = {"once": once, "burst": burst, "ever": ever}
    return (cells[lasts] for lasts in cells if lasts in variant.lasts)


def _at_the_tools(
    places: Sequence[_Place], started: Started
) -> Mapping[str, Callable[[_Place, Mapping[str, Any]], bool]]:
    """Both tables of needs at the tool seam, in one shape."""

    def alone(need: Callable[[Called, Told, Mapping[str, Any]], bool]) -> Callable[..., bool]:
        return lambda place, tool: need(place.called, place.told, tool)

    def among(need: Callable[[_Place, Sequence[_Place], Started], bool]) -> Callable[..., bool]:
        return lambda place, tool: need(place, places, started)

    return {
        **{name: alone(need) for name, need in NEEDS.items()},
        **{name: among(need) for name, need in AMONG.items()},
    }


def _carries_content(called: Called, tool: Mapping[str, Any]) -> bool:
    """Does the call carry text beside the names of its paths?"""
    names = PATHS | DESTINATIONS | {tool.get("target")}
    return any(isinstance(value, str) and value and name not in names for name, value in called.args.items())


def _overtaken(place: _Place, places: Sequence[_Place]) -> bool:
    """Do later calls of the same batch come after it?"""
    order = place.called.order
    return order is not None and any(
        other.called.order is not None
        and other.called.order[0] == order[0]
        and other.called.order[1] > order[1]
        for other in places
    )


def _outdated(place: _Place, places: Sequence[_Place]) -> bool:
    """Was the last equal call answered otherwise?"""
    before = [
        other.told
        for other in places[: places.index(place)]
        if (other.called.tool, other.called.args) == (place.called.tool, place.called.args)
    ]
    return bool(before) and before[-1].ok and before[-1] != place.told


def _read_to_write(place: _Place, places: Sequence[_Place], started: Started) -> bool:
    """Is it the first call on a file that others may change, and is that file written later on?"""
    target = place.called.target
    mine = [other for other in places if other.called.target == target]
    return (
        target in started.shared
        and mine[0] is place
        and any("write" in started.tools.get(other.called.tool, {}).get("roles", ()) for other in mine[1:])
    )


def _elsewhere(place: _Place, places: Sequence[_Place]) -> bool:
    """Has the last `cd` before it led the shell into a folder?"""
    earlier = (other.called.target or "" for other in places[: places.index(place)])
    moves = [target for target in earlier if target.startswith("cd ")]
    return bool(moves) and re.match(r"cd\s+[^\s./~-]", moves[-1]) is not None


def _places(trace: Trace) -> list[_Place]:
    """The calls in the order in which the model asked for them, where that is known of all."""
    results: dict[int, Told] = {}
    for _, executed in find(trace, Executed):
        results[executed.call] = executed.result
    for _, returned in find(trace, Returned):
        results[returned.call] = returned.result
    calls = [called for _, called in find(trace, Called)]
    if all(called.order is not None for called in calls):
        calls.sort(key=lambda called: called.order or (0, 0))
    of_tool: Counter[str] = Counter()
    places: list[_Place] = []
    for called in calls:
        of_tool[called.tool] += 1
        nth = called.nth if called.target is not None else of_tool[called.tool]
        places.append(_Place(called, results.get(called.call, Told()), nth))
    return places


def _turns(trace: Trace) -> list[Mapping[str, Any]]:
    """What is noted of the user's messages after the first."""
    return [noted.detail for _, noted in find(trace, Noted) if noted.what == "turn"]


def _requests(trace: Trace) -> list[_Request]:
    """Every model request with all the messages that it showed, and its reply."""
    replies = {replied.request: replied.message or {} for _, replied in find(trace, Replied)}
    shown: tuple[Mapping[str, Any], ...] = ()
    requests: list[_Request] = []
    for number, (_, asked) in enumerate(find(trace, Asked), 1):
        shown = (*shown[: asked.kept], *asked.messages)
        requests.append(_Request(number, shown, replies.get(asked.request, {})))
    return requests


def _telling(requests: Sequence[_Request], started: Started) -> list[_Request]:
    """Of the requests at which a variant can act those that tell the most: the first one, the last one, and the
    one right after the last change to the world - where nothing was changed, the one in the middle. A sweep of
    all would take as many trials again for each step of a task, and find the same."""
    if len(requests) <= TELLING:
        return list(requests)
    changed = [request for request in requests[1:-1] if _after_change(request, started)]
    between = changed[-1] if changed else requests[len(requests) // 2]
    return [requests[0], between, requests[-1]]


def _after_change(request: _Request, started: Started) -> bool:
    """Is the last thing that it shows the result of a call that writes, or has an effect?"""
    if not request.messages or (id := answers(request.messages[-1])) is None:
        return False
    tools = [key_of(call)[0] for m in request.messages for call in asked_for(m) if call["id"] == id]
    return any(CHANGING & set(started.tools.get(tool, {}).get("roles", ())) for tool in tools[-1:])


def _spans(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Contiguous ranges, merged."""
    spans: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if spans and spans[-1][1] == number - 1:
            spans[-1] = (spans[-1][0], number)
        else:
            spans.append((number, number))
    return spans
