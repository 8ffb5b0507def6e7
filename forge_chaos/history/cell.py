"""What became of one file on one release: frozen data, and what it counts for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Kind = Literal[
    "good", "bad", "hung", "unsteady", "control failed", "not fired", "unfair", "not installable", "broken"
]
Side = Literal["buggy", "repaired", "newest", "asked"]


@dataclass(frozen=True, slots=True)
class Cell:
    """`kind` in words: the plan ended acceptably, or not (`outcome` says how); its process gave no end after a
    control that passed; two playings differ; the same without the plan does not pass (which convicts nobody);
    a rule did not fire; not even the expert could; uv found no way; or our own side failed.

    `why` and `lines`, at most six events of the trace, are what proves it. `package` is the installed version.
    """

    file: str
    package: str
    version: str
    side: Side
    kind: Kind
    outcome: str | None = None
    why: str = ""
    lines: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()  # of several playings that differ

    @property
    def word(self) -> str:
        """As tables show it: `bad (damaged)`."""
        if self.kind == "unsteady":
            return f"unsteady ({', '.join(self.ends)})"
        return f"{self.kind} ({self.outcome})" if self.outcome and self.kind in ("good", "bad") else self.kind

    @property
    def convicts(self) -> bool:
        """Was there a playing that the release is convicted by?"""
        return self.kind in ("bad", "hung") or any(end.startswith(("bad", "hung")) for end in self.ends)

    @property
    def decided(self) -> bool:
        """Is it known whether the bug is in this release?"""
        return self.kind in ("good", "bad", "hung")

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "word": self.word}


def steady(cells: Sequence[Cell]) -> Cell:
    """One cell for the same playing several times over: unsteady where their ends differ."""
    words = [cell.word for cell in cells]
    if len(set(words)) == 1:
        return cells[0]
    worst = next((cell for cell in cells if cell.convicts), cells[0])
    why = f"{len(cells)} playings ended differently: {', '.join(words)}. {worst.why}"
    told = {"kind": "unsteady", "why": why, "ends": tuple(words)}
    return Cell(**{**asdict(worst), **told, "lines": worst.lines})


def as_stated(cell: Cell, was: str | None) -> bool:
    """Did this side of a pair end as its file says? The buggy one is to be convicted, as `was` where that is
    stated; the repaired one has to end acceptably."""
    if cell.side == "buggy":
        return cell.kind in ("bad", "hung") and was in (None, cell.outcome)
    return cell.kind == "good"


def code(cells: Iterable[Cell], was: Mapping[str, str | None]) -> int:
    """The exit code: 3 where ours broke, 1 where a side of a pair did not end as stated or a release that
    was asked about is bad, 2 where nothing can be said of one, else 0. The newest releases, which nobody
    stated anything about, are no part of it."""
    codes = {0}
    for cell in cells:
        if cell.kind == "broken":
            codes.add(3)
        elif cell.side == "newest":
            continue
        elif cell.kind in ("control failed", "not fired", "unfair", "not installable"):
            codes.add(2)
        elif cell.side == "asked":
            codes.add(1 if cell.convicts else 0 if cell.decided else 2)
        elif not as_stated(cell, was.get(cell.file)):
            codes.add(1)
    return next(code for code in (3, 1, 2, 0) if code in codes)
