"""The bar of a bench trial is played by the expert, and never looked up in a fault's file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from forge_chaos import catalog, notation
from forge_chaos.bench import Bench, Setup
from forge_chaos.judging import Judge
from forge_chaos.nouns import Rule
from tests.conformance import table

SCENARIOS = ("charge_once", "count_warnings", "missing_readme")
PERSONAS = ("expert", "naive")
TABLE = re.compile(r"^\[bar\]\n(?:\w+ *= *.*\n)+\n?|^bar +=.*\n", re.MULTILINE)


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fault files with every bar deleted."""
    folder = tmp_path_factory.mktemp("faults")
    for path in sorted(catalog.builtin("faults").glob("*.toml")):
        (folder / path.name).write_text(TABLE.sub("", path.read_text()))
    return folder


def test_the_bars_are_gone_from_the_copies(without: Path) -> None:
    assert all(fault.bar for fault in table.FAULTS.values())
    for fault in catalog.faults([without]).values():
        assert (fault.bar, [variant.bar for variant in fault.variants]) == ({}, [{}] * len(fault.variants))


@pytest.mark.slow
@pytest.mark.parametrize("persona", PERSONAS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_without_them_no_outcome_of_the_bench_changes(name: str, persona: str, without: Path) -> None:
    bare = Bench(Setup(persona=persona, faults_dirs=(str(without),)))
    judge, bars = Judge(bare), set()
    try:
        for trial in table.swept(name, persona):
            if at_the_tools(notation.parse(trial.order.rules[0])):
                _, judgement = judge(trial.trace, bare.scenario(name, table.SEED))
                assert judgement == trial.judgement, str(trial)
                bars.add(judgement.bar)
    finally:
        bare.close()
    assert bars >= {"full", "wrong"}


def at_the_tools(rule: Rule) -> bool:
    fault = table.FAULTS[rule.fault]
    return table.seam(fault, fault.variant(rule.variant)) == "tool"
