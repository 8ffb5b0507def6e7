"""Which traces a run keeps: those of failures and clean trials for ever, and a bounded sample of the others.

Up to the limit all are kept. Past it the draw is halved, again and again: a trace stays when the hash
of its trial's id falls below the draw. The sample is therefore the same whatever the order in which
trials finish, and memory and disk stay flat.
"""

from __future__ import annotations

import sqlite3
import zlib
from hashlib import blake2b
from typing import Any

from forge_chaos import tracefile
from forge_chaos.errors import Misuse
from forge_chaos.events import Trace
from forge_chaos.verdict import Trial

KEEP = 10_000
BITS = 32  # of a draw
LEVEL = 1  # of zlib: a third of the default's time for a tenth more bytes


def keep_traces(value: Any) -> int | None:
    """How many traces of acceptable trials a run keeps, None for all. Raises Misuse for anything else than
    `all`, `failures` or a number."""
    if value == "all":
        return None
    if value == "failures":
        return 0
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = -1
    if number < 0:
        raise Misuse(f"--keep-traces {value!r}: write all, failures, or how many to keep, such as {KEEP}.")
    return number


def precious(trial: Trial) -> bool:
    """Worth its trace for ever. A sweep is planned from clean traces, so that resuming needs them; a plan
    that met no call proves nothing unless the goal was missed too."""
    if trial.kind == "clean":
        return True
    if trial.judgement.outcome == "not_reached" and trial.facts.goal == "full":
        return False
    return not trial.judgement.acceptable


def draw(id: str) -> int:
    """A number below 2 ** BITS, the same for this id everywhere."""
    return int.from_bytes(blake2b(id.encode(), digest_size=BITS // 8).digest(), "big")


class Kept:
    """The traces of a run, compressed. Works within the transaction that its caller has opened."""

    def __init__(self, base: sqlite3.Connection, limit: int | None) -> None:
        self._base = base
        self._limit = limit
        self._count = -1  # traces in the sample; -1: to be counted
        self._bits = BITS

    def forget(self) -> None:
        """The transaction was undone: count again."""
        self._count = -1

    def add(self, trial: Trial, trace: Trace) -> None:
        """Keep the trace or not; in either case the trial's earlier one is gone."""
        if self._count < 0:
            self._count_again()
        kept, number = precious(trial), draw(trial.id)
        was = self._base.execute("SELECT precious FROM traces WHERE id = ?", (trial.id,)).fetchone()
        if was:
            self._base.execute("DELETE FROM traces WHERE id = ?", (trial.id,))
            self._count -= not was[0]
        if kept or (self._bits >= 0 and number < 1 << self._bits):
            body = zlib.compress(tracefile.dumps(trace).encode(), LEVEL)
            self._base.execute("INSERT INTO traces VALUES (?, ?, ?, ?)", (trial.id, kept, number, body))
            self._count += not kept
        if self._limit is not None and self._count > self._limit:
            self._thin(self._limit)

    def text(self, id: str) -> str | None:
        """The trace as `tracefile` wrote it, None when it is not kept. Raises zlib.error or ValueError."""
        found = self._base.execute("SELECT body FROM traces WHERE id = ?", (id,)).fetchone()
        return zlib.decompress(found[0]).decode() if found else None

    def _thin(self, limit: int) -> None:
        while self._count > limit:
            self._bits -= 1  # at -1 no draw is low enough
            bound = 1 << self._bits if self._bits >= 0 else 0
            done = self._base.execute("DELETE FROM traces WHERE NOT precious AND draw >= ?", (bound,))
            self._count -= done.rowcount
        self._base.execute("INSERT OR REPLACE INTO run VALUES ('bits', ?)", (str(self._bits),))

    def _count_again(self) -> None:
        (self._count,) = self._base.execute("SELECT count(*) FROM traces WHERE NOT precious").fetchone()
        found = self._base.execute("SELECT value FROM run WHERE key = 'bits'").fetchone()
        self._bits = int(found[0]) if found else BITS
