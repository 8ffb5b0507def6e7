"""How often is an effect in the ledger?"""

from __future__ import annotations

from typing import Any

from forge_chaos.events import Trace
from forge_chaos.graders import _read
from forge_chaos.verdict import Verdict


def ledger_count(
    trace: Trace, *, kind: str, count: int, order: str | None = None, fields: dict[str, Any] | None = None
) -> Verdict:
    """The ledger holds exactly `count` effects of this `kind`, for this `order` and with these `fields`
    where given."""
    world = _read.world(trace)
    if world is None:
        return _read.unknown("ledger_count")
    seq, snapshot = world
    ledger = snapshot.resources.get("ledger", [])
    if not isinstance(ledger, list):
        return _read.unknown("ledger_count", "the ledger is not kept whole", seq)
    wanted = {"kind": kind, **(fields or {}), **({} if order is None else {"order": order})}
    found = sum(_read.holds(row, wanted) for row in ledger)
    why = f"the ledger holds {found} x {_read.shown(wanted)}"
    return _read.verdict("ledger_count", found == count, why, f"{why}, not {count}", seq)
