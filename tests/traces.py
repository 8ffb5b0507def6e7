"""Traces written by hand: a list of bodies becomes a trace, one second an event.

    trace(
        started("timeout@1:read_file", resources={"a": "1"}),
        failed(1, "read_file", {"path": "a"}, rule="timeout@1:read_file"),
        did(2, "read_file", {"path": "a"}, "1"),
        finished("DONE"),
        snapshot({"a": "1"}),
    )

`Wait(seconds)` lets time pass; groups (what `did` and `failed` return) are flattened.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from forge_chaos.events import (
    Abandoned,
    Asked,
    Body,
    Called,
    Event,
    Executed,
    Finished,
    Injected,
    Replied,
    Returned,
    Snapshot,
    Started,
    Told,
    Trace,
)

TOOLS: Mapping[str, Mapping[str, Any]] = {
    "read_file": {"roles": ["read"], "target": "path", "poll": False},
    "list_files": {"roles": ["list"], "target": "path", "poll": False},
    "write_file": {"roles": ["write"], "target": "path", "poll": False},
    "append_file": {"roles": ["write", "effect"], "target": "path", "poll": False},
    "delete_file": {"roles": ["write"], "target": "path", "poll": False},
    "run_command": {"roles": ["execute"], "target": "command", "poll": False},
    "charge": {"roles": ["effect"], "target": "order", "poll": False},
    "list_ledger": {"roles": ["list"], "target": None, "poll": False},
    "job_status": {"roles": ["read"], "target": "job", "poll": True},
}
TIMEOUT = {
    "code": "timeout",
    "type": "TimeoutError",
    "message": "timed out",
    "text": "TimeoutError: timed out",
}


@dataclass(frozen=True, slots=True)
class Wait:
    seconds: float


Part = Body | Wait


def trace(*parts: Part | list[Body]) -> Trace:
    """Bodies and groups of bodies as events, numbered from 0, one second apart."""
    events: list[Event] = []
    at = 0.0
    for part in _flat(parts):
        if isinstance(part, Wait):
            at += part.seconds
        else:
            events.append(Event(len(events), at, part))
            at += 1.0
    return tuple(events)


def _flat(parts: Iterable[Part | list[Body]]) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, list):
            yield from part
        else:
            yield part


def variant(fault: str, variant: str = "v", **more: Any) -> dict[str, Any]:
    """What `Started.variants` says of one rule."""
    return {
        "fault": fault,
        "variant": variant,
        "family": "failure",
        "explicit": True,
        "refuses": None,
        "seam": "tool",
        "ever": False,
        **more,
    }


def started(
    *rules: str,
    resources: Mapping[str, Any] | None = None,
    tools: Mapping[str, Mapping[str, Any]] = TOOLS,
    variants: Mapping[str, Mapping[str, Any]] | None = None,
    **more: Any,
) -> Started:
    """The beginning of a trial under these rules; each rule's fault is the text before `@`, `.` or `:`."""
    known = {rule: variant(rule.split("@")[0].split(":")[0].split(".")[0]) for rule in rules}
    return Started(
        scenario="hand",
        hash="b2:0",
        agent="hand",
        model="hand",
        rules=tuple(rules),
        seed=1,
        variants={**known, **(variants or {})},
        tools=tools,
        resources=resources or {},
        **more,
    )


def _called(id: int, tool: str, args: Mapping[str, Any], by: str) -> Called:
    name = TOOLS.get(tool, {}).get("target")
    return Called(id, tool, args, target=args.get(name) if name else None, by=by)


def did(
    id: int, tool: str, args: Mapping[str, Any], value: Any = "ok", touched: Iterable[str] = (), by: str = ""
) -> list[Body]:
    """A call that ran and was answered with what it returned."""
    return [
        _called(id, tool, args, by),
        Executed(id, Told(value), tuple(touched)),
        Returned(id, Told(value)),
    ]


def failed(
    id: int,
    tool: str,
    args: Mapping[str, Any],
    error: Mapping[str, Any] | None = None,
    rule: str = "",
    by: str = "",
    **more: Any,
) -> list[Body]:
    """A call answered with an error; with `rule`, instead of running it."""
    called = _called(id, tool, args, by)
    told = Told(error=error or TIMEOUT)
    if not rule:
        return [called, Executed(id, told), Returned(id, told)]
    return [called, injected(rule, id, tool=tool, target=called.target, **more), Returned(id, told)]


def injected(rule: str, call: int | None = None, **more: Any) -> Injected:
    return Injected(rule, more.pop("variant", "v"), more.pop("mechanism", "fail"), call=call, **more)


def left_open(id: int, tool: str, args: Mapping[str, Any], rule: str = "", why: str = "limit") -> list[Body]:
    """A call that hung until the agent let go of it."""
    called = _called(id, tool, args, "")
    fault: list[Body] = [injected(rule, id, tool=tool, target=called.target)] if rule else []
    return [called, *fault, Abandoned(id, why)]


def finished(answer: str = "DONE", end: str = "answered", **more: Any) -> Finished:
    return Finished(end, answer=answer, **more)


def snapshot(resources: Mapping[str, Any] | None = None, known: bool = True) -> Snapshot:
    return Snapshot(resources or {}, known)


def user(text: str = "the task") -> dict[str, Any]:
    return {"role": "user", "content": text}


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def asks(*calls: tuple[str, str, Mapping[str, Any]]) -> dict[str, Any]:
    """An assistant message with tool calls, each (id, tool, arguments)."""
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": id, "type": "function", "function": {"name": tool, "arguments": json.dumps(dict(args))}}
            for id, tool, args in calls
        ],
    }


def tool(id: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def request(number: int, kept: int, *messages: Mapping[str, Any], by: str = "") -> Asked:
    return Asked(number, kept, messages, by=by)


def reply(number: int, message: Mapping[str, Any]) -> Replied:
    return Replied(number, message)
