from __future__ import annotations

from dataclasses import replace

from forge_chaos.verdict import Trial
from forge_chaos.wording import Pair, pairs, said
from tests.test_score import trial


def played(rule: str, steps: int, good: bool = True, scenario: str = "s1", repetition: int = 0) -> Trial:
    made = trial("recovered" if good else "false_success", rule, scenario, repetition=repetition)
    return replace(made, facts=replace(made.facts, steps=steps))


def test_trials_that_differ_in_the_wording_alone_are_a_pair() -> None:
    trials = [
        played("missing_file:read_file(a)", 4),
        played("missing_file:read_file(b)", 6),
        played("missing_file:read_file(a)+text=bare", 7, good=False),
        played("missing_file:read_file(b)+text=bare", 8),
        played("missing_file:read_file(c)+text=bare", 99),  # nothing beside it
        played("missing_file:read_file(a)", 50, scenario="s2"),
        played("timeout:read_file(a)", 50),
    ]
    (pair,) = pairs(trials)
    assert pair == Pair("missing_file", "bare", 2, 7.5, 5.0, 1, 2)
    assert said(pair) == (
        "missing_file: worded bare 7.5 calls a trial, worded clear 5.0; acceptable 1 and 2 of 2"
    )


def test_what_says_clear_is_the_clear_one() -> None:
    one, other = played("timeout:a(b)+text=clear", 3), played("timeout:a(b)+text=misleading", 5)
    assert [(p.text, p.calls, p.calls_clear) for p in pairs([other, one])] == [("misleading", 5.0, 3.0)]


def test_other_repetitions_and_what_did_not_fire_are_no_pair() -> None:
    clear = played("timeout:a(b)", 3)
    assert pairs([clear, played("timeout:a(b)+text=bare", 5, repetition=1)]) == ()
    bare = played("timeout:a(b)+text=bare", 5)
    assert pairs([clear, replace(bare, facts=replace(bare.facts, fired=()))]) == ()
    assert pairs([]) == ()
