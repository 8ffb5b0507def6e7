"""Between which two releases a bug came or went."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from forge_chaos.history.cell import Cell
from forge_chaos.history.releases import Release


@dataclass(frozen=True, slots=True)
class Border:
    """`before` and `after` are the two cells: neighbours, but for `between`, releases that could not be
    decided. Both ends of the range alike: the two ends, and no border. None: nothing could be decided.

    `played` of the `of` releases of the range needed an environment.
    """

    file: str
    package: str
    before: Cell | None
    after: Cell | None
    between: tuple[str, ...]
    played: int
    of: int

    @property
    def found(self) -> bool:
        return self.before is not None and self.after is not None and _differ(self.before, self.after)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "found": self.found}

    def told(self) -> str:
        """In one sentence."""
        cost = f"{self.played} of {self.of} releases played"
        if self.before is None:
            return f"{self.file}: nothing could be decided in this range of {self.package}; {cost}."
        if self.after is None:
            only = f"only {self.before.version} could be decided, which is {self.before.word}"
            return f"{self.file}: {self.package}: {only}; {cost}."
        ends = " and ".join(f"{cell.version} is {cell.word}" for cell in (self.before, self.after))
        if not self.found:
            return (
                f"{self.file}: {self.package} {ends}: both ends are alike, so halving finds no border; {cost}. "
                "--all plays each release."
            )
        left = f" {', '.join(self.between)} between them could not be decided." if self.between else ""
        word = "came" if self.after.convicts else "went"
        return f"{self.file}: the bug {word} in {self.package} {self.after.version}: {ends}; {cost}.{left}"


def _differ(first: Cell, second: Cell) -> bool:
    return first.convicts != second.convicts


def border(releases: Sequence[Release], play: Callable[[Release], Cell]) -> tuple[Border, tuple[Cell, ...]]:
    """The border and the cells that it took, in the order of the releases (at least one release).

    The range is halved; a release that cannot be decided is stepped over, to its nearest neighbour.
    """
    cells: dict[int, Cell] = {}

    def decided(candidates: Sequence[int]) -> int | None:
        """The first of the candidates that can be decided, all before it having been played."""
        for at in candidates:
            if at not in cells:
                cells[at] = play(releases[at])
            if cells[at].decided:
                return at
        return None

    last = len(releases) - 1
    low = decided(range(last + 1))
    high = decided(range(last, low, -1)) if low is not None else None
    if low is not None and high is not None and _differ(cells[low], cells[high]):
        while (middle := decided(_outwards(low, high, cells))) is not None:
            if _differ(cells[low], cells[middle]):
                high = middle
            else:
                low = middle
    found = tuple(cells[at] for at in sorted(cells))
    before, after = (None if at is None else cells[at] for at in (low, high))
    between: tuple[str, ...] = ()
    if low is not None and high is not None and _differ(cells[low], cells[high]):
        between = tuple(release.version for release in releases[low + 1 : high])
    made = Border(found[0].file, found[0].package, before, after, between, len(cells), len(releases))
    return made, found


def _outwards(low: int, high: int, cells: dict[int, Cell]) -> list[int]:
    """The places between the two that were not played, from the middle outwards."""
    middle = (low + high) / 2
    return sorted(
        (at for at in range(low + 1, high) if at not in cells), key=lambda at: (abs(at - middle), at)
    )
