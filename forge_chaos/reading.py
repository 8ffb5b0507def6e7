"""A trace read once: each call from asking to answer, the beginning, the end, the world before and after.

Facts, damage, loops and invariants are folds over this; it adds nothing that the trace does not say.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from forge_chaos import recorded
from forge_chaos.events import (
    Abandoned,
    Asked,
    Called,
    Executed,
    Finished,
    Injected,
    Noted,
    Replied,
    Returned,
    Snapshot,
    Started,
    Told,
    Trace,
)

CHANGING = frozenset({"write", "execute", "effect"})


@dataclass(slots=True)
class Step:
    """One tool call from asking to answer. `seq`, `closed` and the numbers beside events are event
    numbers, `at` and `closed_at` trial seconds. `told` is None for a call that was abandoned or never
    closed."""

    call: Called
    seq: int
    at: float
    key: str
    injected: list[tuple[int, Injected]] = field(default_factory=list)
    executed: list[tuple[int, Executed]] = field(default_factory=list)
    told: Told | None = None
    closed: int | None = None
    closed_at: float | None = None


@dataclass(slots=True)
class Reading:
    """`snapshot` is None where the world at the end is not known; the last of several counts."""

    started: Started | None = None
    steps: list[Step] = field(default_factory=list)
    injected: list[tuple[int, Injected]] = field(default_factory=list)
    asked: list[tuple[int, Asked]] = field(default_factory=list)
    replied: list[tuple[int, Replied]] = field(default_factory=list)
    noted: list[tuple[int, Noted]] = field(default_factory=list)
    finished: Finished | None = None
    ended: int | None = None
    snapshot: Snapshot | None = None
    snapped: int | None = None


def key(tool: str, args: Mapping[str, Any]) -> str:
    """Tool and canonical arguments: keys sorted, None the same as left out."""
    given = {name: value for name, value in args.items() if value is not None}
    return (
        f"{tool} {json.dumps(given, sort_keys=True, ensure_ascii=False, separators=(',', ':'), default=repr)}"
    )


def read(trace: Trace) -> Reading:
    """The trace, read from first to last."""
    found = Reading()
    steps: dict[int, Step] = {}
    for event in trace:
        body, seq = event.body, event.seq
        if isinstance(body, Called):
            steps[body.call] = Step(body, seq, event.at, key(body.tool, body.args))
        elif isinstance(body, Executed):
            if body.call in steps:
                steps[body.call].executed.append((seq, body))
        elif isinstance(body, (Returned, Abandoned)):
            if body.call in steps:
                step = steps[body.call]
                step.told = body.result if isinstance(body, Returned) else None
                step.closed, step.closed_at = seq, event.at
        elif isinstance(body, Injected):
            found.injected.append((seq, body))
            if body.call in steps:
                steps[body.call].injected.append((seq, body))
        elif isinstance(body, Asked):
            found.asked.append((seq, body))
        elif isinstance(body, Replied):
            found.replied.append((seq, body))
        elif isinstance(body, Noted):
            found.noted.append((seq, body))
        elif isinstance(body, Started):
            found.started = body
        elif isinstance(body, Finished):
            found.finished, found.ended = body, seq
        elif isinstance(body, Snapshot):
            found.snapshot, found.snapped = (body, seq) if body.known else (None, None)
    found.steps.extend(steps.values())
    return found


def said(reading: Reading, tool: str) -> Mapping[str, Any]:
    """What `Started` says of a tool: roles, target, poll; empty for a tool that it does not know."""
    return reading.started.tools.get(tool, {}) if reading.started else {}


def effect(reading: Reading, tool: str) -> bool:
    """Does doing it again change the state again?"""
    return "effect" in said(reading, tool).get("roles", ())


def only_reads(reading: Reading, tool: str) -> bool:
    """Is the tool known to change nothing? A tool without roles is not."""
    roles = said(reading, tool).get("roles", ())
    return bool(roles) and not CHANGING.intersection(roles)


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Is this resource one of the patterns, or below one that names a folder (`lib`, `lib/`, `lib/*`)?"""
    return any(
        pattern == name or fnmatchcase(name, pattern) or name.startswith(pattern.rstrip("/") + "/")
        for pattern in patterns
    )


def world_touched(reading: Reading) -> bool:
    """Does this world say what a call changes? One that never does is a user's own tools."""
    return any(executed.touched for step in reading.steps for _, executed in step.executed)


def touched(reading: Reading, step: Step) -> dict[str, int]:
    """The resources that this call itself changed, each with the event that says so.

    What a mechanism changed during the call is not the agent's doing, unless the agent aimed at it.
    """
    if only_reads(reading, step.call.tool):
        return {}
    theirs = {name for _, injected in step.injected for name in injected.changed}
    return {
        name: seq
        for seq, executed in step.executed
        for name in executed.touched
        if name == step.call.target or not matches(name, theirs)
    }


def own_changes(reading: Reading) -> dict[str, tuple[str, tuple[int, ...]]]:
    """{resource: (created | changed | deleted, event numbers)} from first to last, by the agent's calls.

    Where the world says what each call touched, a change is the agent's if a call touched it; where
    no call says so, it is the agent's unless a mechanism changed it. Empty when the end is unknown.
    """
    if reading.started is None or reading.snapshot is None or reading.snapped is None:
        return {}
    found = recorded.changed(reading.started.resources, reading.snapshot.resources)
    if not found:
        return {}
    if world_touched(reading):
        hands: dict[str, list[int]] = {}
        for step in reading.steps:
            for name, seq in touched(reading, step).items():
                hands.setdefault(name, []).append(seq)
        return {
            name: (kind, (*hands[name], reading.snapped)) for name, kind in found.items() if name in hands
        }
    theirs = {name for _, injected in reading.injected for name in injected.changed}
    return {name: (kind, (reading.snapped,)) for name, kind in found.items() if not matches(name, theirs)}
