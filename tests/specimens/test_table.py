from __future__ import annotations

import re
from contextlib import closing
from importlib import import_module, reload
from pathlib import Path

import pytest

from forge_chaos import agents, catalog, invariants, notation, reference, registry
from forge_chaos.bench import Setup
from forge_chaos.executors.child import child
from forge_chaos.order import Order
from forge_chaos.specimens import good
from forge_chaos.specimens.table import BAD, GOOD, Cell, Specimen, persona
from tests.conformance import table
from tests.conformance.table import Played
from tests.specimens.playing import CELLS, HERE, IDS, ended, play

ALL = (*BAD, *GOOD)
LOOKING = {
    "ignores_limit",
    "counts_turns",
    "loses_counts",
    "jumps_over",
    "boasts_at_limit",
}  # these bring a model of their own


def test_there_are_enough_of_them_and_each_is_one() -> None:
    assert len(BAD) >= 24
    assert len(GOOD) >= 7
    assert len({specimen.spec for specimen in ALL}) == len(ALL)


@pytest.mark.parametrize("specimen", ALL, ids=lambda specimen: specimen.name)
def test_it_can_be_named_on_the_command_line_and_says_what_it_is(specimen: Specimen) -> None:
    assert agents.seat(specimen.spec).adapter == "native"
    assert specimen.about.endswith(".")


@pytest.mark.parametrize("specimen", BAD, ids=lambda specimen: specimen.name)
def test_its_cells_are_rules_of_the_catalogue(specimen: Specimen) -> None:
    assert specimen.cells
    for cell in specimen.cells:
        assert cell.scenario in catalog.scenario_names()
        assert notation.write(notation.parse(cell.rule)) == cell.rule
        catalog.resolve(notation.parse(cell.rule), table.FAULTS)


@pytest.mark.parametrize(("specimen", "cell"), CELLS, ids=IDS)
def test_a_known_bad_one_is_convicted_as_its_table_says(specimen: Specimen, cell: Cell) -> None:
    reload(import_module(specimen.spec.partition(":")[0]))  # one counts the runs of its process
    with table.seated(specimen.function) as bench:
        for _ in range(cell.times):
            trial = table.play(cell.scenario, cell.rule, by=bench)
            if not trial.judgement.acceptable:
                break
    assert trial.facts.fired
    assert (ended(trial), trial.judgement.acceptable) == (cell.outcome, False), str(trial)


@pytest.mark.parametrize(("specimen", "cell"), CELLS, ids=IDS)
def test_without_its_bug_it_is_not(specimen: Specimen, cell: Cell) -> None:
    agent = good.searches if specimen.name in LOOKING else reference.agent
    trial = play(agent, cell.scenario, cell.rule)
    assert trial.facts.fired
    assert trial.judgement.acceptable, str(trial)


@pytest.mark.parametrize("specimen", HERE, ids=lambda specimen: specimen.name)
def test_without_a_fault_a_known_bad_one_does_its_task(specimen: Specimen) -> None:
    if specimen.name == "counts_across_runs":
        return  # not in a process that has seen it run before: see test_limits
    for name in {cell.scenario for cell in specimen.cells}:
        trial = play(specimen.function, name)
        assert (trial.outcome, trial.judgement.acceptable) == ("not_reached", True), str(trial)


@pytest.mark.slow
@pytest.mark.parametrize("specimen", [s for s in BAD if s.apart], ids=lambda specimen: specimen.name)
def test_one_that_needs_a_process_of_its_own_is_convicted_there(specimen: Specimen) -> None:
    setup = Setup(agent=specimen.spec, watchdog=1.5).to_json()
    with closing(child(setup, watchdog=1.5, complain=lambda text: None)) as executor:
        for cell in specimen.cells:
            order = Order("x", cell.scenario, (cell.rule,), table.SEED)
            ((_, trace),) = executor.run([order])
            found, judgement = table.judge()(trace, table.scenario(cell.scenario))
            trial = Played(order, trace, found, judgement)
            assert (ended(trial), judgement.acceptable) == (cell.outcome, False), str(trial)


def test_a_persona_is_read_from_its_docstring() -> None:
    assert persona("expert") is None
    assert persona("impatient") == Cell("charge_once", "lost_reply.done_then_timeout:charge", "damaged")
    assert all(persona(name) for name in registry.names("personas") if name != "expert")


BESIDE = {
    "left_running": "needs real processes: tests/test_invariants.py",
    "changed_after_end": "needs a disk that an agent's own tools write to: tests/test_invariants.py",
}


def test_every_invariant_and_every_bad_outcome_convicts_somebody() -> None:
    source = Path(invariants.__file__).read_text()
    named = set(re.findall(r'(?:yield|Verdict\()\s*"(\w+)"', source)) | set(invariants.AFTER)
    shown = {cell.outcome for specimen in BAD for cell in specimen.cells}
    assert {f"violated:{name}" for name in named - set(BESIDE)} - shown == set()
    assert {
        "damaged",
        "hung",
        "looped",
        "crashed",
        "gave_up",
        "undersold",
        "false_success",
        "silent",
    } <= shown
    assert set(BESIDE) <= named
