"""Every data file loads, and names only what exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge_chaos import catalog, notation, registry, regression, scenariofile
from forge_chaos.specimens.table import BAD
from tests.meta.files import ROOT

FAULTS = sorted((ROOT / "faults").glob("*"))
HISTORY = ROOT / "scenarios" / "history"
SCENARIOS = sorted(path for path in (ROOT / "scenarios").iterdir() if path.is_dir() and path != HISTORY)
PAIRS = sorted(HISTORY.glob("*.chaos.toml"))
NAMED = ("missing_file", "timeout", "malformed_output", "blocked_command", "truncated_context")


def test_all_that_lies_there_is_found() -> None:
    assert sorted(catalog.faults()) == [path.stem for path in FAULTS]
    assert [path.suffix for path in FAULTS] == [".toml"] * len(FAULTS)
    assert sorted(catalog.folders()) == [path.name for path in SCENARIOS]
    assert set(NAMED) <= set(catalog.faults())


@pytest.mark.parametrize("path", FAULTS, ids=lambda path: path.stem)
def test_a_fault_convicts_known_bad_ones_that_exist(path: Path) -> None:
    """Personas, or agents whose own table says so: no persona is ever shown what its provider refuses."""
    fault = catalog.faults()[path.stem]
    assert fault.convicts, "a fault that convicts nobody is deleted"
    agents = {bad.name for bad in BAD if any(cell.fault == fault.id for cell in bad.cells)}
    assert set(fault.convicts) <= (set(registry.names("personas")) - {"expert"}) | agents


@pytest.mark.parametrize("folder", SCENARIOS, ids=lambda folder: folder.name)
def test_a_scenario_loads_under_two_seeds(folder: Path) -> None:
    for seed in (1, 2):
        assert scenariofile.scenario(folder, seed).full


@pytest.mark.parametrize("path", PAIRS, ids=lambda path: path.name.removesuffix(".chaos.toml"))
def test_a_bug_of_a_release_states_both_sides_and_has_all_that_it_names(path: Path) -> None:
    found = regression.read(path)
    assert found.history is not None
    assert None not in (found.was, found.history.buggy, found.history.repaired, found.history.ends)
    assert found.history.reference
    assert found.agent is not None
    assert found.home(ROOT) == HISTORY
    assert found.scenarios_dirs() == (str(HISTORY),)
    for seed in (1, 2):
        assert scenariofile.scenario(HISTORY / found.scenario, seed).full
    for rule in found.rules:
        catalog.resolve(notation.parse(rule), catalog.faults())


def test_every_scenario_of_a_release_belongs_to_a_file() -> None:
    used = {regression.read(path).scenario for path in PAIRS}
    assert (
        sorted(path.parent.name for path in HISTORY.glob("*/scenario.toml") if path.parent.name not in used)
        == []
    )


def test_every_mechanism_and_grader_is_used_by_data_of_ours() -> None:
    """House rule 12: what changes no verdict is deleted. `function` is for graders of users."""
    used = {variant.mechanism for fault in catalog.faults().values() for variant in fault.variants}
    assert sorted(set(registry.names("mechanisms")) - used) == []
