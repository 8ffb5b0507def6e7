"""Every cell that a sweep plans on the built-in scenarios: it fires, and who does everything right passes."""

from __future__ import annotations

from typing import Any

import pytest

from forge_chaos import facts, notation
from forge_chaos.events import Called, Trace, find
from forge_chaos.nouns import dice
from tests.conformance import table

FEW = ("charge_once", "count_warnings", "keep_legacy", "missing_readme", "read_version", "three_reads")
PAIRS = 300
MODEL_SEAM = {
    f"{fault.id}.{variant.id}"
    for fault in table.FAULTS.values()
    for variant in fault.variants
    if table.seam(fault, variant) == "model"
}


@pytest.mark.slow
@pytest.mark.parametrize("name", table.NAMES)
def test_every_planned_cell_fires_and_the_reference_agent_ends_well_on_it(name: str) -> None:
    """In one test, since the sweep is what takes the time: nothing is unfair or invalid, and the expert ends the
    same through messages and driven live - at the tool seam, for a fault at the model seam does not meet who has
    no wire."""
    trials = list(table.swept(name))
    assert trials
    assert [str(trial) for trial in trials if not trial.facts.fired] == []
    assert [str(trial) for trial in trials if trial.outcome in ("unfair", "invalid")] == []
    assert [str(trial) for trial in trials if not trial.judgement.acceptable] == []
    for trial in trials if name in FEW else ():
        rule = notation.parse(trial.order.rules[0])
        if f"{rule.fault}.{rule.variant}" not in MODEL_SEAM:
            live = table.bench().expert(table.scenario(name), [rule], table.SEED)
            assert ended(live, name) == ended(trial.trace, name), str(trial)


def ended(trace: Trace, name: str) -> dict[str, Any]:
    found = facts.facts(trace, table.scenario(name), table.judge().allowed(table.scenario(name)))
    return {
        "goal": found.goal,
        "claim": found.claim,
        "damage": [verdict.name for verdict in found.damage],
        "end": found.end,
        "calls": [(called.tool, called.args) for _, called in find(trace, Called)],
    }


@pytest.mark.slow
def test_two_faults_at_the_tools_at_once_are_met_as_well_as_one() -> None:
    """A sample of pairs of cells."""
    rng = dice(table.SEED, "pairs")
    for _ in range(PAIRS):
        name = rng.choice(table.NAMES)
        at_the_tools = [
            rule for rule in table.cells(name) if f"{rule.fault}.{rule.variant}" not in MODEL_SEAM
        ]
        rules = map(notation.write, rng.sample(at_the_tools, 2))
        trial = table.play(name, *rules)
        assert trial.facts.fired
        assert trial.judgement.acceptable, str(trial)


@pytest.mark.slow
def test_every_variant_of_every_fault_is_planned_somewhere() -> None:
    planned = {f"{rule.fault}.{rule.variant}" for name in table.NAMES for rule in table.cells(name)}
    known = {f"{fault.id}.{variant.id}" for fault in table.FAULTS.values() for variant in fault.variants}
    assert known - planned == set(table.REAL)
