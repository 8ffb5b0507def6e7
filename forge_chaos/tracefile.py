"""A trace as text: one JSON object a line, `{"seq", "at", "kind", ...the event's own fields}`.

Values in events are strict JSON already (`recorded`), so the way back gives equal events: lists become
tuples where the event says tuple, a result is `{"value": ...}` or `{"error": {...}}`.
What this version does not know is refused, never dropped: a half-read trace would be judged wrongly.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from operator import attrgetter
from typing import Any

from forge_chaos.errors import Misuse
from forge_chaos.events import (
    BODIES,
    Asked,
    Body,
    Called,
    Event,
    Executed,
    Injected,
    Returned,
    Started,
    Told,
    Trace,
)

_NAMES: Mapping[type[Body], tuple[str, ...]] = {
    body: tuple(field.name for field in fields(body)) for body in BODIES.values()
}
_KNOWN: Mapping[type[Body], frozenset[str]] = {body: frozenset(names) for body, names in _NAMES.items()}
# One C call reads all fields of an event; the recorder's cost is part of the bar for trials a second.
_READ: Mapping[type[Body], Callable[[Body], tuple[Any, ...]]] = {
    body: attrgetter(*names) for body, names in _NAMES.items()
}
_TUPLES: Mapping[type[Body], tuple[str, ...]] = {
    Started: ("rules", "shared"),
    Asked: ("messages", "tools"),
    Called: ("order",),
    Injected: ("changed",),
    Executed: ("touched",),
}
_TOLD = frozenset({Executed, Returned})
_WAY = "Read it with the forge-chaos that wrote it, or with a newer one."


def _mapping(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not in recorded form")


# ASCII only: no character of a value can then end a line, and lone surrogates survive.
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_mapping).encode
_decode = json.JSONDecoder().decode


def _told(result: Told) -> dict[str, Any]:
    if result.error is None:
        return {"value": result.value}
    return {"error": result.error} if result.value is None else {"value": result.value, "error": result.error}


def event_to_json(event: Event) -> dict[str, Any]:
    """`event` as a JSON object."""
    body = event.body
    kind = type(body)
    record: dict[str, Any] = {"seq": event.seq, "at": event.at, "kind": body.kind}
    record.update(zip(_NAMES[kind], _READ[kind](body), strict=True))
    for name in _TUPLES.get(kind, ()):
        if record[name] is not None:
            record[name] = list(record[name])
    if kind in _TOLD:
        record["result"] = _told(record["result"])
    return record


def event_from_json(record: Mapping[str, Any]) -> Event:
    """The event back. Raises Misuse for a kind or field that this version does not know or that is missing."""
    data = dict(record)
    try:
        seq, at, name = data.pop("seq"), data.pop("at"), data.pop("kind")
    except KeyError as error:
        raise Misuse(f"no event: {error.args[0]!r} is missing. The trace is damaged.") from None
    kind = BODIES.get(name) if isinstance(name, str) else None
    if kind is None:
        raise Misuse(f"event {seq}: kind {name!r} was written by a newer version. {_WAY}")
    if not data.keys() <= _KNOWN[kind]:
        extra = ", ".join(sorted(data.keys() - _KNOWN[kind]))
        raise Misuse(f"event {seq}: field {extra} of {name!r} was written by a newer version. {_WAY}")
    try:
        for field in _TUPLES.get(kind, ()):
            if data.get(field) is not None:
                data[field] = tuple(data[field])
        if kind in _TOLD:
            data["result"] = Told(**data["result"])
        return Event(seq, at, kind(**data))
    except (KeyError, TypeError) as error:
        raise Misuse(f"event {seq}: no good {name!r}: {error}. The trace is damaged.") from None


def line(event: Event) -> str:
    """`event` as one line of ASCII, its end included. Raises ValueError or TypeError when a value in it
    is not in recorded form."""
    return _encode(event_to_json(event)) + "\n"


def dumps(trace: Iterable[Event]) -> str:
    """The whole trace as text."""
    return "".join([line(event) for event in trace])


def loads(text: str, where: str = "trace") -> Trace:
    """The trace back. Raises Misuse with `where` and the line for anything that is no event."""
    events = []
    for number, row in enumerate(text.split("\n"), 1):
        if not row:
            continue
        try:
            record = _decode(row)
            if not isinstance(record, dict):
                raise Misuse("no JSON object. The trace is damaged.")
            events.append(event_from_json(record))
        except json.JSONDecodeError as error:
            raise Misuse(f"{where}:{number}: no JSON: {error.msg}. The trace is damaged.") from None
        except Misuse as error:
            raise Misuse(f"{where}:{number}: {error}") from None
    return tuple(events)
