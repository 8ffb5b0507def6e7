"""Agents whose bug needs two faults together, or one fault at one call: a search finds it within its budget,
whatever the seed, and ends at the smallest plan that there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge_chaos.fuzzing.found import Failure
from tests.conformance import table
from tests.conformance.frail import FRAIL, Frail
from tests.conformance.fuzzed import fuzzed

BUDGET = 300
SEEDS = [seed if seed <= 3 else pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 11)]


def found(frail: Frail, seed: int, folder: Path) -> Failure:
    """The first failure of the outcome that the agent is known for."""
    result = fuzzed(
        frail.agent,
        frail.scenario,
        frail.faults,
        folder,
        seed=seed,
        budget=BUDGET,
        outcome=frail.outcome,
        most=1,
    )
    assert result.trials <= BUDGET
    assert len(result.failures) == 1, f"seed {seed}: {result}"
    return result.failures[0]


def holds(frail: Frail, seed: int, failure: Failure) -> None:
    """It is the smallest plan, verified, and it fails again in a replay."""
    assert failure.plan == frail.minimum(table.scenario(frail.scenario, seed)), f"seed {seed}: {failure}"
    assert failure.key.outcome == frail.outcome
    assert failure.minimal
    assert failure.replayed


def test_there_are_enough_of_both_kinds() -> None:
    assert len(FRAIL) >= 10
    assert sum(len(frail.plan) > 1 for frail in FRAIL) >= 5
    assert sum(len(frail.plan) == 1 for frail in FRAIL) >= 5


@pytest.mark.parametrize(
    "frail", [f for f in FRAIL if f.name == "takes_silence_for_no"], ids=lambda f: f.name
)
def test_one_of_them_with_one_seed(frail: Frail, tmp_path: Path) -> None:
    holds(frail, 1, found(frail, 1, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("frail", FRAIL, ids=lambda frail: frail.name)
def test_every_seed_ends_at_the_known_minimum(frail: Frail, seed: int, tmp_path: Path) -> None:
    holds(frail, seed, found(frail, seed, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("frail", FRAIL, ids=lambda frail: frail.name)
def test_no_rule_of_the_minimum_does_it_alone(frail: Frail) -> None:
    """The plan fails as it is known to, and with one rule less it does not."""
    with table.seated(frail.agent) as bench:
        assert table.play(frail.scenario, by=bench).judgement.acceptable
        plan = frail.minimum(table.scenario(frail.scenario))
        whole = table.play(frail.scenario, *plan, by=bench)
        assert whole.outcome == frail.outcome, str(whole)
        for at in range(len(plan)):
            less = table.play(frail.scenario, *plan[:at], *plan[at + 1 :], by=bench)
            assert less.judgement.acceptable, str(less)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_minimal_plan(tmp_path: Path) -> None:
    frail = next(frail for frail in FRAIL if frail.name == "waits_without_limit")
    first, second = (found(frail, 5, tmp_path / name) for name in ("first", "second"))
    assert first == second
