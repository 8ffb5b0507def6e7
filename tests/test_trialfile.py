"""Trials and scorecards are read back exactly as they were written; what is not known is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_chaos import trialfile
from forge_chaos.errors import Misuse
from forge_chaos.verdict import Facts, Fired, Judgement, Row, Scorecard, Skipped, Swapped, Trial, Verdict

FIRED = Fired("timeout@1:read_file(a)", "timeout", "raises", "read_file", "a", 1, 2, 5, "yes")
VERDICT = Verdict("file_equals", "fail", "total.txt is not there", (3, 9))
FACTS = Facts((FIRED,), "stopped", "degraded", "failed", damage=(VERDICT,), graders=(VERDICT,), litter=("x",))
SWAPPED = Swapped("model", 1, 1, "damaged", "charged twice", same=True)
TRIAL = Trial(
    "t0123456789",
    "sum",
    "fault",
    ("timeout@1:read_file(a)",),
    7,
    0,
    ("timeout",),
    FACTS,
    Judgement("damaged", False, True, "charged twice", (5,), "full"),
    replay="forge-chaos replay reports/0001-x:t0123456789",
    reason="COMMAND_TIMEOUT",
    swapped=(SWAPPED, Swapped("harness", 0, 0)),
)
ROW = Row("timeout", 4, 3, 2, 0.5, low=None, outcomes={"recovered": 2, "damaged": 1})
CARD = Scorecard(
    "reports/0001-x",
    "x",
    "scripted",
    None,
    1,
    2,
    2,
    (ROW,),
    0.5,
    6,
    1,
    (Skipped("s", "no tool"),),
    1,
    ("bad",),
)


@pytest.mark.parametrize(
    "whole", [VERDICT, FIRED, FACTS, TRIAL, SWAPPED, ROW, CARD], ids=lambda w: type(w).__name__
)
def test_round_trip_through_strict_json(whole: trialfile.Record) -> None:
    text = json.dumps(trialfile.to_json(whole), allow_nan=False)
    again: Any = trialfile.from_json(type(whole), json.loads(text))
    assert again == whole
    assert repr(again) == repr(whole), "tuples are tuples again"


@given(st.from_type(Facts), st.from_type(Judgement))
def test_generated_facts_and_judgements_round_trip(facts: Facts, judgement: Judgement) -> None:
    for whole in (facts, judgement):
        again: Any = trialfile.from_json(type(whole), json.loads(json.dumps(trialfile.to_json(whole))))
        assert repr(again) == repr(whole)


def test_a_field_of_a_newer_version_is_refused_at_any_depth() -> None:
    data = trialfile.to_json(TRIAL)
    data["facts"]["fired"][0]["mood"] = "good"
    with pytest.raises(Misuse, match="fired: field mood was written by a newer version"):
        trialfile.from_json(Trial, data)


def test_a_missing_field_is_named() -> None:
    data = trialfile.to_json(TRIAL)
    del data["judgement"]["acceptable"]
    with pytest.raises(Misuse, match="judgement: field acceptable is missing"):
        trialfile.from_json(Trial, data)


def test_a_field_that_an_older_version_did_not_write_is_filled_in() -> None:
    data = trialfile.to_json(TRIAL)
    del data["suite"], data["facts"]["litter"]
    trial = trialfile.from_json(Trial, data)
    assert (trial.suite, trial.facts.litter) == ("capability", ())


def test_what_is_no_list_is_refused() -> None:
    with pytest.raises(Misuse, match="fired is no list"):
        trialfile.from_json(Facts, {"fired": None})


@pytest.mark.parametrize("bad", [None, [], "x"])
def test_what_is_no_object_is_refused(bad: Any) -> None:
    with pytest.raises(Misuse, match="damaged"):
        trialfile.from_json(Trial, {**trialfile.to_json(TRIAL), "facts": bad})
