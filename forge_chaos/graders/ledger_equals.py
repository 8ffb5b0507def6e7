"""Are these effects, and no others, in the ledger?"""

from __future__ import annotations

from typing import Any

from forge_chaos.events import Trace
from forge_chaos.graders import _read
from forge_chaos.verdict import Verdict


def ledger_equals(trace: Trace, *, entries: list[dict[str, Any]], ordered: bool = False) -> Verdict:
    """The ledger holds one effect for each of `entries` and none beside.

    An effect is an entry's when it has its fields with its values; fields that the entry does not name
    are free. With `ordered`, in this order.
    """
    world = _read.world(trace)
    if world is None:
        return _read.unknown("ledger_equals")
    seq, snapshot = world
    ledger = snapshot.resources.get("ledger", [])
    if not isinstance(ledger, list):
        return _read.unknown("ledger_equals", "the ledger is not kept whole", seq)
    if ordered:
        same = len(ledger) == len(entries) and all(map(_read.holds, ledger, entries))
    else:
        left = list(ledger)
        for entry in sorted(entries, key=len, reverse=True):  # the most exact entry chooses first
            match = next((row for row in left if _read.holds(row, entry)), None)
            if match is not None:
                left.remove(match)
        same = len(ledger) == len(entries) and not left
    return _read.verdict(
        "ledger_equals",
        same,
        f"the ledger holds these {len(entries)} effects",
        f"the ledger is {_read.shown(ledger, 200)}, not {_read.shown(entries, 200)}",
        seq,
    )
