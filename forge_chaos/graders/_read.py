"""What graders read of a trace: the world at the end, the answer, the calls; and how they word a verdict."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from posixpath import normpath
from typing import Any

from forge_chaos import recorded
from forge_chaos.events import Called, Finished, Noted, Snapshot, Trace, find
from forge_chaos.reading import matches
from forge_chaos.verdict import Verdict

MARKS = " \t\r\n*_`#>~-=|\"'()[]{}"
CLAIM = re.compile(r"(done|failed)(?![a-z0-9])", re.I)


def world(trace: Trace) -> tuple[int, Snapshot] | None:
    """The world at the end with its event number, None when it is not known."""
    last: tuple[int, Snapshot] | None = None
    for found in find(trace, Snapshot):
        last = found
    return last if last is not None and last[1].known else None


def finished(trace: Trace) -> tuple[int, Finished] | None:
    """The end of the run with its event number."""
    last: tuple[int, Finished] | None = None
    for found in find(trace, Finished):
        last = found
    return last


def answer(trace: Trace) -> tuple[int, str] | None:
    """The whole final answer with its event number; None when the run has no end."""
    end = finished(trace)
    return None if end is None else (end[0], recorded.words(end[1].answer))


def body(text: str) -> str:
    """An answer without its last line when that is the claim, DONE or FAILED."""
    lines = text.strip().splitlines()
    if lines and CLAIM.match(lines[-1].strip(MARKS)):
        lines.pop()
    return "\n".join(lines).strip()


def calls(trace: Trace, tool: str, target: str | None = None) -> Iterator[tuple[int, Called]]:
    """The calls on the tools and targets that match these globs, with event numbers."""
    for seq, called in find(trace, Called):
        if matches(called.tool, [tool]) and (target is None or matches(called.target or "", [target])):
            yield seq, called


def notes(trace: Trace, what: str) -> Iterator[tuple[int, Noted]]:
    return ((seq, noted) for seq, noted in find(trace, Noted) if noted.what == what)


def clean(path: str) -> str:
    return normpath(path)


def whole(value: Any) -> str | None:
    """A resource as its whole text; None for bytes, and for text too long to be kept whole."""
    return value if isinstance(value, str) else None


def shown(value: Any, most: int = 80) -> str:
    """A value for a sentence: short, on one line."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= most else text[: most - 3] + "..."


def same_json(one: Any, other: Any) -> bool:
    """Equal as JSON: 1 equals 1.0, but True does not equal 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same_json, one, other))
    return bool(one == other)


def holds(row: Any, fields: dict[str, Any]) -> bool:
    """Has this row these fields with these values, whatever else it has?"""
    return isinstance(row, dict) and all(k in row and same_json(row[k], v) for k, v in fields.items())


def verdict(name: str, holds: bool, yes: str, no: str, *evidence: int) -> Verdict:
    return Verdict(name, "pass" if holds else "fail", yes if holds else no, evidence)


def unknown(name: str, why: str = "the world at the end is not known", *evidence: int) -> Verdict:
    return Verdict(name, "unknown", why, evidence)
