"""From trials to the end of a test."""

from __future__ import annotations

from dataclasses import replace

import pytest

import forge_chaos
from forge_chaos.plugin import ends
from forge_chaos.plugin.ends import Skipped, Unacceptable, Undecided
from forge_chaos.plugin.trying import Swept, Tried
from forge_chaos.score import scorecard
from forge_chaos.verdict import Facts, Fired, Judgement, Outcome, Trial

RULE = "timeout.hangs:read_file"
HIT = Fired(RULE, "timeout", "hangs", "read_file", None, 1, 1, 4)


def trial(outcome: Outcome, acceptable: bool, *, fired: bool = True, kind: str = "fault") -> Trial:
    judgement = Judgement(
        outcome, acceptable, outcome not in ("invalid", "unfair", "not_reached"), "Because."
    )
    facts = Facts(
        fired=(HIT,) if fired else (),
        goal="full" if acceptable else "wrong",
        claim="done",
        broken="a grader" if outcome == "invalid" else None,
    )
    made = Trial("t1", "sum_orders", "fault", (RULE,), 1, 0, ("timeout",), facts, judgement, replay="COMMAND")
    return made if kind == "fault" else replace(made, id="t0", kind="clean", rules=(), faults=())


def tried(of: Trial) -> Tried:
    return Tried(of, (), () if of.facts.fired else (RULE,), "b2:1")


def swept(*trials: Trial) -> Swept:
    card = scorecard(
        trials,
        ["timeout"],
        run="",
        agent="a:b",
        model="scripted",
        persona=None,
        seed=1,
        applicable={"timeout": ["sum_orders"]},
    )
    failing = tuple(t for t in trials if t.kind == "fault" and not t.judgement.acceptable)
    unsolved = tuple(t for t in trials if t.kind == "clean" and not t.judgement.acceptable)
    return Swept(card, trials, failing, unsolved, {t.id: () for t in trials})


def test_a_plan_that_ends_well_passes() -> None:
    ends.one(tried(trial("recovered", True)), "SEARCH")
    ends.one(tried(trial("gave_up", True)), "SEARCH")


@pytest.mark.parametrize(
    ("outcome", "fired", "end", "says"),
    [
        ("damaged", True, Unacceptable, "damaged, NOT acceptable"),
        ("not_reached", False, Unacceptable, "STALE: timeout.hangs:read_file did not fire"),
        ("invalid", True, Undecided, "invalid"),
        ("invalid", False, Undecided, "invalid"),
        ("unfair", True, Skipped, "unfair"),
    ],
)
def test_a_plan_that_does_not(outcome: Outcome, fired: bool, end: type[BaseException], says: str) -> None:
    with pytest.raises(end, match=says) as raised:
        ends.one(tried(trial(outcome, False, fired=fired)), "SEARCH")
    assert end is Skipped or str(raised.value).endswith("\nagain: COMMAND")
    assert ("SEARCH" in str(raised.value)) == (outcome == "not_reached")


def test_one_rule_of_two_that_did_not_fire_is_stale_however_it_ends() -> None:
    for made in (trial("recovered", True), trial("unfair", False), trial("hung", False)):
        half = replace(tried(made), stale=("missing_file:read_file",))
        with pytest.raises(Unacceptable, match="STALE: missing_file:read_file"):
            ends.one(half, "SEARCH")


def test_a_stale_plan_never_passes_as_a_clean_trial() -> None:
    with pytest.raises(Unacceptable, match="STALE"):
        ends.one(tried(trial("not_reached", True, fired=False)), "SEARCH")


def test_a_sweep() -> None:
    clean = trial("not_reached", True, fired=False, kind="clean")
    ends.sweep(swept(clean, trial("recovered", True)), "AGAIN", True, False)
    with pytest.raises(Unacceptable, match="1 of 1 trial with a fault") as failed:
        ends.sweep(swept(clean, trial("hung", False)), "AGAIN", True, False)
    assert [t.judgement.outcome for t in failed.value.trials] == ["hung"]
    assert failed.value.scorecard is not None
    with pytest.raises(Undecided):
        ends.sweep(swept(clean, trial("invalid", False)), "AGAIN", True, False)
    quiet = swept(clean, trial("not_reached", True, fired=False))
    for sampled in (False, True):
        with pytest.raises(Skipped, match="timeout never fired"):
            ends.sweep(quiet, "AGAIN", True, sampled)


def test_who_fails_without_any_fault_fails() -> None:
    clean = trial("not_reached", False, fired=False, kind="clean")
    with pytest.raises(Unacceptable, match="sum_orders is not solved without any fault"):
        ends.sweep(swept(clean), "AGAIN", True, False)


def test_users_import_them_from_the_package() -> None:
    assert (forge_chaos.Unacceptable, forge_chaos.Undecided) == (Unacceptable, Undecided)
    assert issubclass(Unacceptable, AssertionError)
    assert not issubclass(Undecided, AssertionError)
