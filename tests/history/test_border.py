"""The border is found between neighbours, in few environments, over releases that cannot be decided."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_chaos.history.border import Border, border
from forge_chaos.history.cell import Cell, Kind
from forge_chaos.history.releases import Release

KINDS: dict[str, Kind] = {"g": "good", "b": "bad", "h": "hung", "n": "not installable", "c": "control failed"}


def found(ends: str) -> tuple[Border, tuple[Cell, ...]]:
    """The border over releases 0, 1, ... that end so; each is played once at most."""
    played: set[str] = set()

    def play(release: Release) -> Cell:
        assert release.version not in played
        played.add(release.version)
        return Cell("a", "kit", release.version, "asked", KINDS[ends[int(release.version)]])

    return border([Release(str(n), "2025-01-01") for n in range(len(ends))], play)


@pytest.mark.parametrize(
    ("ends", "two", "between"),
    [
        ("ggggbbbb", ("3", "4"), ()),
        ("bbbbbbbg", ("6", "7"), ()),
        ("gbbbbbbb", ("0", "1"), ()),
        ("gh", ("0", "1"), ()),
        ("gggncbbb", ("2", "5"), ("3", "4")),
        ("ngggbbbc", ("3", "4"), ()),
        ("gnnnnnnb", ("0", "7"), ("1", "2", "3", "4", "5", "6")),
    ],
)
def test_the_two_releases_between_which_it_lies(
    ends: str, two: tuple[str, str], between: tuple[str, ...]
) -> None:
    made, _ = found(ends)
    assert made.found
    assert made.before is not None
    assert made.after is not None
    assert ((made.before.version, made.after.version), made.between) == (two, between)


def test_halving_plays_few_of_many() -> None:
    made, cells = found("g" * 40 + "b" * 24)
    assert made.played == len(cells) <= 8
    assert [int(cell.version) for cell in cells] == sorted(int(cell.version) for cell in cells)


@given(st.text("gbnc", min_size=1, max_size=24))
def test_what_is_found_is_a_border_or_the_ends_are_alike(ends: str) -> None:
    made, _ = found(ends)
    decided = [end for end in ends if end in "gb"]
    assert made.found == (bool(decided) and decided[0] != decided[-1])
    if made.found:
        assert made.before is not None
        assert made.after is not None
        low, high = int(made.before.version), int(made.after.version)
        assert ends[low] != ends[high]
        assert all(end in "nc" for end in ends[low + 1 : high])


@pytest.mark.parametrize(
    ("ends", "says"),
    [
        ("ggbb", "a: the bug came in kit 2: 1 is good and 2 is bad; 4 of 4 releases played."),
        ("bbgg", "a: the bug went in kit 2: 1 is bad and 2 is good; 4 of 4 releases played."),
        ("gnb", "1 between them could not be decided."),
        ("gbg", "0 is good and 2 is good: both ends are alike, so halving finds no border; 2 of 3 releases"),
        ("gbg", "--all plays each release."),
        ("nn", "nothing could be decided in this range of kit; 2 of 2 releases played."),
        ("ng", "only 1 could be decided, which is good; 2 of 2 releases played."),
    ],
)
def test_it_is_told_in_one_sentence(ends: str, says: str) -> None:
    assert says in found(ends)[0].told()
