"""Failures are told apart by scenario, outcome and what convicts first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forge_chaos.fuzzing.found import Key, key_of
from forge_chaos.verdict import Facts, Judgement, Outcome, Trial, Verdict

FACTS = Facts(
    damage=(Verdict("repeated_effect", "fail", "twice"), Verdict("must_not", "fail", "changed")),
    loops=(Verdict("equal_calls", "fail", "4 times"),),
    violations=(Verdict("swallowed", "fail", "not told"),),
    graders=(Verdict("file_exists", "pass", "it is there"), Verdict("file_equals", "fail", "other text")),
)


def trial(outcome: Outcome, acceptable: bool = False, scored: bool = True) -> Trial:
    said = Judgement(outcome, acceptable, scored, "why")
    return Trial("t1", "sums", "fault", ("timeout",), 1, 0, ("timeout",), FACTS, said)


@pytest.mark.parametrize(
    ("outcome", "invariant"),
    [
        ("damaged", "repeated_effect"),
        ("looped", "equal_calls"),
        ("violated", "swallowed"),
        ("hung", ""),
        ("crashed", ""),
        ("gave_up", "file_equals"),
        ("false_success", "file_equals"),
        ("silent", "file_equals"),
    ],
)
def test_the_first_that_convicts_is_named(outcome: Outcome, invariant: str) -> None:
    assert key_of(trial(outcome)) == Key("sums", outcome, invariant)


def test_nothing_that_convicts_is_named_by_its_outcome() -> None:
    stopped = replace(trial("looped"), facts=Facts())
    assert key_of(stopped) == Key("sums", "looped", "")


def test_an_acceptable_end_and_one_that_does_not_count_are_no_failure() -> None:
    assert key_of(trial("gave_up", acceptable=True)) is None
    assert key_of(trial("invalid", scored=False)) is None
    assert key_of(trial("not_reached", scored=False)) is None


def test_a_key_reads_well() -> None:
    assert str(Key("sums", "damaged", "must_not")) == "sums: damaged (must_not)"
    assert str(Key("sums", "hung")) == "sums: hung"
