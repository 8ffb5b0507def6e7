"""Trials, facts, judgements and scorecards as JSON objects, and back.

Every field is written. Reading fills in what an older version did not write and refuses what this one
does not know, so that a verdict is never shown with a part of it left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeAlias, TypeVar

from forge_chaos.errors import Misuse
from forge_chaos.verdict import Facts, Fired, Judgement, Row, Scorecard, Skipped, Swapped, Trial, Verdict

Record: TypeAlias = Verdict | Fired | Facts | Judgement | Trial | Swapped | Row | Skipped | Scorecard
R = TypeVar("R", bound=Record)

_ONE: Mapping[type[Any], Mapping[str, type[Record]]] = {Trial: {"facts": Facts, "judgement": Judgement}}
_MANY: Mapping[type[Any], Mapping[str, type[Record]]] = {
    Facts: {"fired": Fired, "damage": Verdict, "loops": Verdict, "violations": Verdict, "graders": Verdict},
    Scorecard: {"rows": Row, "skipped": Skipped},
    Trial: {"swapped": Swapped},
}
_KINDS = (Verdict, Fired, Facts, Judgement, Trial, Swapped, Row, Skipped, Scorecard)
_NAMES: Mapping[type[Any], tuple[str, ...]] = {
    kind: tuple(field.name for field in fields(kind)) for kind in _KINDS
}
_NEEDED: Mapping[type[Any], tuple[str, ...]] = {
    kind: tuple(f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING)
    for kind in _KINDS
}


def to_json(record: Record) -> dict[str, Any]:
    """`record` as a JSON object: tuples are lists, nested records are objects."""
    kind = type(record)
    one, many = _ONE.get(kind, {}), _MANY.get(kind, {})
    data: dict[str, Any] = {}
    for name in _NAMES[kind]:
        value = getattr(record, name)
        if name in one:
            value = to_json(value)
        elif name in many:
            value = [to_json(item) for item in value]
        elif type(value) is tuple:
            value = list(value)
        elif isinstance(value, Mapping):
            value = dict(value)
        data[name] = value
    return data


def from_json(kind: type[R], data: Mapping[str, Any]) -> R:
    """The record back. Raises Misuse for a field that this version does not know or that is missing."""
    what = kind.__name__.lower()
    if not isinstance(data, Mapping):
        raise Misuse(f"{what}: no JSON object. The run is damaged.")
    extra = sorted(data.keys() - set(_NAMES[kind]))
    if extra:
        raise Misuse(
            f"{what}: field {', '.join(extra)} was written by a newer version. "
            f"Read it with the forge-chaos that wrote it, or with a newer one."
        )
    missing = [name for name in _NEEDED[kind] if name not in data]
    if missing:
        raise Misuse(f"{what}: field {', '.join(missing)} is missing. The run is damaged.")
    one, many = _ONE.get(kind, {}), _MANY.get(kind, {})
    given: dict[str, Any] = {}
    for name, value in data.items():
        if name in one:
            value = from_json(one[name], value)
        elif name in many:
            if not isinstance(value, list):
                raise Misuse(f"{what}: field {name} is no list. The run is damaged.")
            value = tuple(from_json(many[name], item) for item in value)
        elif type(value) is list:
            value = tuple(value)
        given[name] = value
    return kind(**given)
