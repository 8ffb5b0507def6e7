"""Has a record these values?"""

from __future__ import annotations

from typing import Any

from forge_chaos.events import Trace
from forge_chaos.graders import _read
from forge_chaos.verdict import Verdict


def record_equals(trace: Trace, *, table: str, id: str | int, fields: dict[str, Any]) -> Verdict:
    """The row `id` of `table` exists and has these fields with these values; others are free."""
    world = _read.world(trace)
    if world is None:
        return _read.unknown("record_equals")
    seq, snapshot = world
    row = snapshot.resources.get(f"record:{table}/{id}")
    if row is None:
        return Verdict("record_equals", "fail", f"{table} has no row {id}", (seq,))
    return _read.verdict(
        "record_equals",
        _read.holds(row, fields),
        f"{table}/{id} holds {_read.shown(fields)}",
        f"{table}/{id} is {_read.shown(row)}, not {_read.shown(fields)}",
        seq,
    )
