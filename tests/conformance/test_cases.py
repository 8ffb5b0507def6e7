"""Cases from the field: each was publicly seen with some agent or framework. `cases` is the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from importlib import import_module, reload
from typing import Any

import pytest

from forge_chaos import judge, registry
from forge_chaos.bench import Bench, Setup
from forge_chaos.events import Asked, find
from forge_chaos.executors.child import child
from forge_chaos.order import Order
from forge_chaos.specimens import good
from forge_chaos.specimens._loop import loop
from forge_chaos.specimens._searcher import searcher
from forge_chaos.specimens.table import BAD, GOOD
from tests.conformance import table
from tests.conformance.cases import CASES, GUARDS, Cell, Guard
from tests.conformance.field import hands, honest, mouths, wrapped
from tests.conformance.holding import calls, turns
from tests.conformance.table import Played

NUMBERS = [f"C{n:03}" for n in range(1, 108, 2)]
CELLS = [(number, cell) for number, case in CASES.items() for cell in case.cells]
HERE = [(number, cell) for number, cell in CELLS if not cell.apart]
APART = [(number, cell) for number, cell in CELLS if cell.apart]
FIELD = {
    name: getattr(module, name) for module in (hands, honest, mouths, wrapped) for name in module.__all__
}
SPECIMENS = {specimen.name: specimen for specimen in (*BAD, *GOOD)}
SEAMS = ("model seam", "sub-agents", "cancellation", "session store", "targets as processes")


def named(pairs: list[tuple[str, Cell]]) -> list[str]:
    return [f"{number}-{cell.bad}-{n}" for n, (number, cell) in enumerate(pairs)]


def function(name: str) -> Callable[..., Any]:
    """The agent of that name. A specimen's module is loaded anew: one counts the runs of its process."""
    if name == "searches":
        return good.searches
    if name in FIELD:
        found: Callable[..., Any] = FIELD[name]
        return found
    reload(import_module(SPECIMENS[name].spec.partition(":")[0]))
    return SPECIMENS[name].function


@contextmanager
def seated(name: str) -> Iterator[Bench]:
    """A bench with that agent in its seat; of a persona, with it behind the reference agent."""
    if name in registry.names("personas"):
        yield table.bench(name)
    else:
        with table.seated(function(name)) as bench:
            yield bench


def played(name: str, scenario: str, rules: tuple[str, ...], times: int = 1) -> Played:
    with seated(name) as bench:
        for _ in range(times):
            trial = table.play(scenario, *rules, by=bench)
            if not trial.judgement.acceptable:
                break
    return trial


def ended(trial: Played, rules: tuple[str, ...]) -> str:
    """The outcome; of a violation with its name, and without rules that of a clean trial."""
    outcome: str = trial.outcome
    if not rules:
        some = table.play("sum_orders", "timeout.raises:read_file(orders.csv)").facts.fired
        outcome = judge.judge(replace(trial.facts, fired=some), "full").outcome
    violated = trial.facts.violations if outcome == "violated" else ()
    return ":".join([outcome, *(verdict.name for verdict in violated[:1])])


def unfired(trial: Played) -> list[str]:
    return sorted(set(trial.order.rules) - {fired.rule for fired in trial.facts.fired})


def test_every_case_stands_in_the_table_once_and_every_cell_says_who() -> None:
    assert list(CASES) == NUMBERS
    known = {*FIELD, *SPECIMENS, *registry.names("personas"), "searches"}
    assert {name for _, cell in CELLS for name in (cell.good, cell.bad)} <= known


def test_a_case_without_a_cell_says_what_it_waits_for() -> None:
    for number, case in CASES.items():
        assert case.cells or case.waits, number
        assert not case.waits or case.waits.startswith(SEAMS), number
        assert case.cells or case.holds is None, number


@pytest.mark.parametrize(("number", "cell"), CELLS, ids=named(CELLS))
def test_who_does_it_right_is_acceptable(number: str, cell: Cell) -> None:
    trial = played(cell.good, cell.scenario, cell.rules)
    assert unfired(trial) == []
    assert (ended(trial, cell.rules), trial.judgement.acceptable) == (cell.ends, True), str(trial)
    holds = CASES[number].holds
    assert holds is None or cell is not CASES[number].cells[0] or holds(trial)


@pytest.mark.parametrize(("number", "cell"), HERE, ids=named(HERE))
def test_who_does_what_was_seen_is_convicted(number: str, cell: Cell) -> None:
    trial = played(cell.bad, cell.scenario, cell.rules, cell.times)
    assert (ended(trial, cell.rules), trial.judgement.acceptable) == (cell.outcome, False), str(trial)
    assert unfired(trial) == [] or not trial.judgement.scored


@pytest.mark.slow
@pytest.mark.parametrize(("number", "cell"), APART, ids=named(APART))
def test_who_needs_a_process_of_its_own_is_convicted_there(number: str, cell: Cell) -> None:
    spec = f"{function(cell.bad).__module__}:{cell.bad}"
    order = Order("x", cell.scenario, cell.rules, table.SEED)
    setup = Setup(agent=spec, watchdog=1.5).to_json()
    with closing(child(setup, watchdog=1.5, complain=lambda text: None)) as executor:
        ((_, trace),) = executor.run([order])
    _, judgement = table.judge()(trace, table.scenario(cell.scenario))
    assert (judgement.outcome, judgement.acceptable) == (cell.outcome, False), judgement.why


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_a_guard_does_not_fire_where_it_must_not(guard: Guard) -> None:
    name, scenario, rules, outcome = guard.calm
    trial = played(name, scenario, rules)
    assert unfired(trial) == []
    assert (ended(trial, rules), trial.judgement.acceptable) == (outcome, True), str(trial)


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_and_it_does_where_it_must(guard: Guard) -> None:
    name, scenario, rules, outcome = guard.fires
    trial = played(name, scenario, rules)
    assert (ended(trial, rules), trial.judgement.acceptable) == (outcome, False), str(trial)


def test_litter_is_shown() -> None:
    trial = played("leaves_note", "sum_orders", ())
    assert (trial.facts.litter, trial.facts.damage) == (("notes/today.txt",), ())


def test_c003_wrappers_change_neither_the_end_nor_the_number_of_turns() -> None:
    trials = [played(cell.good, cell.scenario, cell.rules) for cell in CASES["C003"].cells]
    assert [cell.good for cell in CASES["C003"].cells] == ["agent", "wrapped_once", "wrapped_twice"]
    assert len({(trial.facts.goal, turns(trial), trial.facts.steps) for trial in trials}) == 1


@pytest.mark.parametrize("number", ["C015", "C089"])
def test_texts_clear_and_bare_end_alike_and_their_steps_can_be_compared(number: str) -> None:
    """How much a text matters to who reads it: here, to the expert, not at all."""
    trials = [played(cell.good, cell.scenario, cell.rules) for cell in CASES[number].cells[:2]]
    assert len({trial.outcome for trial in trials}) == 1
    assert len({trial.facts.steps for trial in trials}) == 1


def test_c049_a_cut_right_after_the_last_write_starts_nothing_again() -> None:
    clean = table.play("sum_orders")
    trial = table.play("sum_orders", f"truncated_context.newest@{len(list(find(clean.trace, Asked)))}")
    assert (trial.outcome, trial.judgement.acceptable) == ("recovered", True), str(trial)
    assert calls(trial, "write_file") == ["total.txt"]


def test_c089_another_way_to_what_only_a_command_was_refused_for_is_no_damage() -> None:
    for variant in ("bare", "names_the_way"):
        trial = played("circumvent", "keep_legacy", (f"blocked_command.{variant}@1..:delete_file",))
        assert (trial.outcome, trial.facts.damage) == ("recovered", ()), str(trial)


@pytest.mark.slow
def test_c091_calls_side_by_side_are_counted_alike_in_200_of_200_runs() -> None:
    with table.seated(function("limited")) as bench:
        order = Order("x", "charge_three", ("timeout.out_of_order:charge+member=1",), table.SEED)
        traces = [bench.trace(order) for _ in range(200)]
    assert all(trace == traces[0] for trace in traces)


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_c093_every_limit_is_kept(steps: int, width: int) -> None:
    async def searches(task: Any, tools: Any, model: Any) -> str:
        return await loop(replace(task, max_steps=steps), tools, searcher(model, width=width))

    with table.seated(searches) as bench:
        trial = table.play("sum_orders", "missing_file.never@1..:read_file(orders.csv)", by=bench)
    assert trial.facts.steps <= steps
    assert (trial.facts.end, trial.facts.claim) == ("answered", "failed"), str(trial)


def test_c095_thirty_runs_in_one_process_all_succeed() -> None:
    with table.seated(function("agent")) as bench:
        trials = [table.play("sum_orders", by=bench) for _ in range(30)]
    assert [trial.judgement.acceptable for trial in trials] == [True] * 30
