"""The selfcheck: what it finds, what it says, and that it would say so."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest

from forge_chaos import selfcheck
from forge_chaos.reference import agent
from forge_chaos.selfcheck import Report, Row, Tried
from forge_chaos.specimens import good
from forge_chaos.specimens.table import BAD, GOOD, Cell, Specimen

RULE = "timeout.raises@1..:read_file"
FOUND = Tried("sum_orders", RULE, "looped", True, True, "Round and round.", "looped")
ROW = Row("spins", "loop", "It spins.", ("timeout",), (FOUND,))
CLEAR = Row("reference", "good", "", (), (Tried("sum_orders", "", "not_reached", False, False, ""),))


def report(*rows: Row) -> Report:
    return Report(rows, ("timeout", "silent_noop"), 12.3, 2)


def test_all_found_and_nobody_else_is_a_pass() -> None:
    made = report(ROW, CLEAR)
    assert (made.exit, made.missed, made.alarms) == (0, (), ())
    assert "1 of 1 known-bad agents convicted" in made.text()
    assert "0 false alarms; 1 of 1 good agents never convicted." in made.text()
    assert "2 trials in 12 s in 2 processes." in made.text()
    assert "1/1*" in made.text()


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (replace(FOUND, convicted=False, outcome="recovered"), "Expected: looped."),
        (replace(FOUND, outcome="hung"), "Expected: looped."),
        (replace(FOUND, fired=False), "timeout does not convict it"),
    ],
)
def test_a_bug_that_is_missed_or_called_something_else_is_a_failure(changed: Tried, why: str) -> None:
    made = report(replace(ROW, tried=(changed,)), CLEAR)
    assert made.exit == 1
    assert "0 of 1 known-bad" in made.text()
    assert made.text().splitlines()[-1].startswith("MISSED spins: ")
    assert why in made.text()


def test_a_good_agent_that_is_convicted_is_a_failure() -> None:
    made = report(ROW, replace(CLEAR, tried=(replace(FOUND, expected=""),)))
    assert made.exit == 1
    assert "FALSE ALARM reference: sum_orders under timeout.raises@1..:read_file: looped." in made.text()


def test_a_loop_is_tried_on_its_cells_and_on_a_sample() -> None:
    (row,) = selfcheck._do("loop", "trims")
    assert row.missed == ()
    assert row.of("oversized_output")[0] >= 1
    assert row.of("timeout")[1] >= 1  # a sample of all that applies
    assert row.of("timeout")[0] == 0


def test_a_persona_is_owed_a_conviction_by_each_class_that_says_so() -> None:
    (row,) = selfcheck._do("persona", "impatient")
    assert "lost_reply" in row.owed
    assert row.missed == ()


def test_the_good_agents_are_tried_on_a_scenario() -> None:
    rows = selfcheck._do("good", "missing_readme")
    assert len(rows) == len(GOOD)
    assert [row.alarms for row in rows] == [()] * len(GOOD)
    assert all(len(row.tried) > 20 for row in rows)


def test_what_fails_without_any_fault_is_no_good_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    lazy = Specimen("forge_chaos.specimens.good:searches")  # knows one scenario alone
    row = selfcheck._good(lazy, "three_reads")
    assert len(row.alarms) == 1
    assert good.searches is not agent


def test_a_bug_that_is_none_is_missed() -> None:
    harmless = Specimen("forge_chaos.reference:agent", (Cell("sum_orders", RULE, "crashed"),))
    row = selfcheck._bad(harmless)
    assert len(row.missed) == 2


@pytest.mark.slow
def test_every_bug_is_found_and_no_good_agent_is_convicted() -> None:
    seen: list[tuple[int, int]] = []
    ticks = count()
    made = selfcheck.selfcheck(lambda done, total, what: seen.append((done, total)), now=lambda: next(ticks))
    assert (made.missed, made.alarms, made.exit) == ((), (), 0)
    assert len(made.bad) >= len(BAD) + 5
    assert len(made.good) >= 7
    assert made.seconds == 1
    assert seen[-1][0] == seen[-1][1]
