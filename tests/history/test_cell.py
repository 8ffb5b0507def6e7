"""What a cell is called, and what it counts for."""

from __future__ import annotations

from typing import Any

import pytest

from forge_chaos.history import cell as cells
from forge_chaos.history.cell import Cell, Kind, Side


def cell(kind: Kind, outcome: str | None = None, side: Side = "asked", **more: Any) -> Cell:
    return Cell("a", "kit", "1.0", side, kind, outcome, **more)


GOOD, BAD = cell("good", "recovered"), cell("bad", "crashed")


@pytest.mark.parametrize(
    ("of", "word", "convicts", "decided"),
    [
        (GOOD, "good (recovered)", False, True),
        (BAD, "bad (crashed)", True, True),
        (cell("hung", "hung"), "hung", True, True),
        (cell("control failed"), "control failed", False, False),
        (cell("not fired", "not_reached"), "not fired", False, False),
        (cell("not installable"), "not installable", False, False),
        (cells.steady([GOOD, BAD]), "unsteady (good (recovered), bad (crashed))", True, False),
        (cells.steady([GOOD, cell("not fired")]), "unsteady (good (recovered), not fired)", False, False),
    ],
)
def test_its_word_and_whether_it_convicts_and_decides(
    of: Cell, word: str, convicts: bool, decided: bool
) -> None:
    assert (of.word, of.convicts, of.decided) == (word, convicts, decided)


def test_equal_playings_are_one_and_different_ones_show_the_worst() -> None:
    assert cells.steady([BAD, BAD]) == BAD
    bad = cell("bad", "crashed", why="it raised", lines=("[1] a",))
    found = cells.steady([GOOD, bad])
    assert found.lines == ("[1] a",)
    assert found.why == "2 playings ended differently: good (recovered), bad (crashed). it raised"


@pytest.mark.parametrize(
    ("of", "was", "ended"),
    [
        (cell("bad", "crashed", "buggy"), "crashed", True),
        (cell("bad", "crashed", "buggy"), None, True),
        (cell("bad", "damaged", "buggy"), "crashed", False),
        (cell("hung", "hung", "buggy"), "hung", True),
        (cell("good", "recovered", "buggy"), "crashed", False),
        (cell("good", "gave_up", "repaired"), "crashed", True),
        (cell("bad", "crashed", "repaired"), "crashed", False),
        (cells.steady([GOOD, BAD]), "crashed", False),
    ],
)
def test_a_side_that_ended_as_its_file_says(of: Cell, was: str | None, ended: bool) -> None:
    assert cells.as_stated(of, was) is ended


BUGGY, REPAIRED = cell("bad", "crashed", "buggy"), cell("good", "recovered", "repaired")


@pytest.mark.parametrize(
    ("played", "code"),
    [
        ((), 0),
        ((BUGGY, REPAIRED), 0),
        ((BUGGY, REPAIRED, cell("bad", "crashed", "newest"), cell("not installable", None, "newest")), 0),
        ((BUGGY, cell("bad", "crashed", "repaired")), 1),
        ((cell("good", "recovered", "buggy"), REPAIRED), 1),
        ((BUGGY, cell("control failed", None, "repaired")), 2),
        ((cell("not fired", None, "buggy"), REPAIRED), 2),
        ((cell("not installable", None, "buggy"), cell("bad", "crashed", "repaired")), 1),
        ((cell("unfair", None, "buggy"),), 2),
        ((cell("broken", None, "newest"), cell("bad", "crashed", "repaired")), 3),
        ((GOOD, GOOD), 0),
        ((GOOD, BAD), 1),
        ((GOOD, cell("hung", "hung")), 1),
        ((GOOD, cell("control failed")), 2),
        ((cells.steady([GOOD, BAD]),), 1),
        ((cells.steady([GOOD, cell("control failed")]),), 2),
    ],
)
def test_the_exit_code(played: tuple[Cell, ...], code: int) -> None:
    assert cells.code(played, {"a": "crashed"}) == code
