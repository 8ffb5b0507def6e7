"""Whose a failure is follows from two ends, and what nobody was judged by says nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forge_chaos.attribution import bad, cell, chosen, end, itself, layer
from forge_chaos.verdict import Facts, Fired, Judgement, Outcome, Swapped, Trial

FIRED = Fired("timeout", "timeout", "raises", "read_file", "a", 1, 1, 2)
FAILS, ENDS_WELL, UNKNOWN = (1, 1), (0, 1), (0, 0)


def trial(outcome: Outcome, acceptable: bool = False, fired: bool = True) -> Trial:
    facts = Facts((FIRED,) if fired else (), goal="full" if acceptable else "wrong", claim="done")
    judgement = Judgement(outcome, acceptable, True, f"it {outcome}", bar="full")
    return Trial("t", "s", "fault", ("timeout",), 1, 0, ("timeout",), facts, judgement)


BAD = trial("gave_up")


@pytest.mark.parametrize(
    ("expert", "reference", "whose"),
    [
        (FAILS, ENDS_WELL, "harness"),
        (ENDS_WELL, FAILS, "model"),
        (FAILS, FAILS, "both"),
        (ENDS_WELL, ENDS_WELL, "interaction"),
        (FAILS, UNKNOWN, "harness"),
        (UNKNOWN, FAILS, "model"),
        (ENDS_WELL, UNKNOWN, "unknown"),
        (UNKNOWN, ENDS_WELL, "unknown"),
        (UNKNOWN, UNKNOWN, "unknown"),
    ],
)
def test_the_layer_follows_from_the_two_ends(
    expert: tuple[int, int], reference: tuple[int, int], whose: str
) -> None:
    assert layer([Swapped("model", *expert), Swapped("harness", *reference)]) == whose


def test_nothing_was_tried() -> None:
    assert layer([]) == "unknown"


def test_several_trials_decide_by_their_majority() -> None:
    again = [trial("gave_up"), trial("recovered", True), trial("false_success")]
    found = end("harness", BAD, again)
    assert (found.failed, found.runs, found.fails, found.outcome) == (2, 3, True, "gave_up")
    assert end("harness", BAD, again[:2]).fails is False
    assert end("harness", BAD, []).fails is None


def test_who_never_met_the_fault_or_was_not_judged_says_nothing() -> None:
    assert bad(BAD, trial("unfair")) is None
    assert bad(BAD, trial("invalid")) is None
    assert bad(BAD, trial("not_reached", fired=False)) is None
    assert end("model", BAD, [trial("not_reached", fired=False)]) == Swapped(
        "model", 0, 0, "not_reached", "it not_reached"
    )


def test_a_failure_that_met_no_fault_itself_is_held_to_the_goal() -> None:
    original = trial("not_reached", fired=False)
    assert bad(original, trial("not_reached", fired=False)) is True
    assert bad(original, trial("not_reached", True, fired=False)) is False


def test_the_end_that_is_the_trial_itself() -> None:
    assert itself("model", BAD) == Swapped("model", 1, 1, "gave_up", "it gave_up", same=True)


def test_each_cell_is_tried_once_and_of_each_kind_one_first() -> None:
    again = replace(BAD, id="t2", repetition=1)
    other = replace(BAD, id="t3", rules=("timeout@2",))
    hung = replace(trial("hung"), id="t4", rules=("timeout@3",))
    broken = replace(trial("invalid"), id="t5", rules=("timeout@4",))
    assert cell(BAD) == cell(again) != cell(other)
    assert [t.id for t in chosen([BAD, again, other, hung, broken])] == ["t", "t4", "t3"]
