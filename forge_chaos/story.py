"""A trace in words: one line an event, for people who want to see what convicts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from forge_chaos.events import (
    Abandoned,
    Asked,
    Called,
    Event,
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

WIDTH = 150


def line(event: Event) -> str:
    """One event in one line: `[12] 30.0s told call 3: TimeoutError: ...`."""
    return short(f"[{event.seq}] {event.at:g}s {_words(event.body)}", WIDTH)


def lines(trace: Trace, only: Iterable[int] | None = None) -> list[str]:
    """The events of a trace in words, all of them or those with these numbers."""
    wanted = None if only is None else set(only)
    return [line(event) for event in trace if wanted is None or event.seq in wanted]


def short(text: str, width: int) -> str:
    """On one line, cut at `width` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def difference(first: Trace, second: Trace, timed: bool = True) -> tuple[Event | None, Event | None] | None:
    """The first two events that differ, None in the place of one that is not there; None when equal.

    Versions and what a check command printed (it may print how long it took) are no part of the comparison.
    Not `timed`: nor are the times of the events, since those of an agent in real time never come again.
    """
    for index in range(max(len(first), len(second))):
        a = first[index] if index < len(first) else None
        b = second[index] if index < len(second) else None
        if a is None or b is None or _compared(a, timed) != _compared(b, timed):
            return a, b
    return None


def _compared(event: Event, timed: bool) -> Any:
    if isinstance(event.body, Started):
        body = event.body
        return (event.seq, body.scenario, body.rules, body.seed, body.prompt, body.resources)
    if isinstance(event.body, Noted):
        return (event.seq, event.body.what, {k: v for k, v in event.body.detail.items() if k != "output"})
    return event if timed else (event.seq, event.body)


def _words(body: Any) -> str:
    match body:
        case Started(scenario=scenario, agent=agent, rules=rules, seed=seed):
            return f"started {scenario} by {agent}, seed {seed}, plan: {', '.join(rules) or 'empty'}"
        case Asked(request=request, kept=kept, messages=messages):
            return f"model request {request}: {kept} messages kept, {len(messages)} new"
        case Replied(request=request, error=str(error)):
            return f"model reply {request}: {error}"
        case Replied(request=request, message=message):
            return f"model reply {request}: {_reply(message or {})}"
        case Called(call=call, tool=tool, args=args):
            return f"call {call}: {tool}({_args(args)})"
        case Injected(variant=variant, call=None, request=request):
            return f"FAULT {variant} on model request {request}"
        case Injected(variant=variant, call=call, nth=nth, target=target):
            return f"FAULT {variant} on call {call} (number {nth} on {target or 'this tool'})"
        case Executed(call=call, result=result):
            return f"the real tool ran for call {call}: {_told(result)}"
        case Returned(call=call, result=result):
            return f"told call {call}: {_told(result)}"
        case Abandoned(call=call, why=why):
            return f"call {call} left open: {why}"
        case Noted(what=what, detail=detail):
            return f"noted {what}: {_json(detail)}"
        case Finished(end=end, error=error) if error is not None:
            return f"finished: {end} {error.get('type')}: {error.get('message')}"
        case Finished(end=end, answer=answer, why=why):
            return f"finished: {end}{f' ({why})' if why else ''}: {answer!r}"
        case Snapshot(resources=resources):
            return f"the world after: {', '.join(resources) or 'empty'}"
    return str(body)


def _told(told: Told) -> str:
    if told.error is not None:
        return str(told.error.get("text") or told.error.get("message"))
    return told.value if isinstance(told.value, str) else _json(told.value)


def _args(args: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_json(value)}" for name, value in args.items())


def _reply(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls") or ()
    if calls:
        return "asks for " + ", ".join(str((c.get("function") or {}).get("name")) for c in calls)
    return repr(message.get("content"))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
