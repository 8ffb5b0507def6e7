"""Each persona fails exactly what its docstring names, and the expert nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from forge_chaos import notation, registry
from forge_chaos.bench import Bench
from forge_chaos.nouns import Fault, Variant
from forge_chaos.specimens.pairing import swaps
from forge_chaos.specimens.replies import (
    believes_reason,
    dies_of_unknown_tool,
    hides_names,
    keeps_one_of_an_id,
    leaves_nameless,
    merges_equal,
    parses_blindly,
    remembers_by_id,
)
from forge_chaos.specimens.trust import believes_folder
from forge_chaos.specimens.turns import cuts_session
from forge_chaos.specimens.wording import validates
from tests.conformance import loops, table

FAILURE = re.compile(r"Unacceptable on: `(?P<scenario>\w+)` under\s+`(?P<rule>[^`]+)` \((?P<outcome>\w+)\W")
NONE = "Unacceptable on: no built-in scenario under any fault."


@dataclass(frozen=True)
class Named:
    """The failure that a persona's docstring names."""

    scenario: str
    rule: str
    outcome: str


def named(persona: str) -> Named:
    text = registry.module("personas", persona).__doc__ or ""
    found = FAILURE.search(text)
    assert found, f"{persona}: its docstring names no `scenario` under `rule` (outcome): {text}"
    return Named(**found.groupdict())


OTHERS = [persona for persona in table.PERSONAS if persona != "expert"]


@pytest.mark.parametrize("persona", OTHERS)
def test_it_fails_as_its_docstring_says(persona: str) -> None:
    failure = named(persona)
    assert notation.write(notation.parse(failure.rule)) == failure.rule
    trial = table.play(failure.scenario, failure.rule, by=table.bench(persona))
    assert trial.facts.fired
    assert (trial.outcome, trial.judgement.acceptable) == (failure.outcome, False), str(trial)


@pytest.mark.parametrize("persona", OTHERS)
def test_the_expert_is_acceptable_where_it_fails(persona: str) -> None:
    failure = named(persona)
    trial = table.play(failure.scenario, failure.rule)
    assert trial.facts.fired
    assert trial.judgement.acceptable, str(trial)


@pytest.mark.parametrize("persona", OTHERS)
def test_it_passes_the_clean_trial_of_that_scenario(persona: str) -> None:
    trial = table.play(named(persona).scenario, by=table.bench(persona))
    assert (trial.outcome, trial.judgement.acceptable) == ("not_reached", True), str(trial)


def test_the_expert_says_that_it_fails_nowhere() -> None:
    """That it is so on every cell is what `test_sweep` finds."""
    assert NONE in (registry.module("personas", "expert").__doc__ or "")


def test_their_failures_are_not_all_of_one_kind() -> None:
    assert {named(persona).outcome for persona in OTHERS} >= {"damaged", "false_success", "looped"}


@pytest.mark.parametrize("fault", table.FAULTS)
def test_a_class_convicts_whom_its_file_says(fault: str) -> None:
    """On some built-in scenario, each: a class that convicts nobody has no place in the catalogue."""
    for persona in set(table.FAULTS[fault].convicts) & set(OTHERS):  # of agents test_table sees to it
        trials = (trial for name in table.NAMES for trial in table.swept(name, persona, [fault]))
        assert any(convicted(trial) for trial in trials), f"{fault} convicts no {persona}"


FEW = (
    *("sum_orders", "charge_once", "count_warnings", "dedupe_payments", "read_version", "mail_report"),
    *("poll_job", "shared_notes", "three_reads"),  # an old answer, another hand, a batch
    "shell_folder",  # a shell that stands somewhere
    "count_then_write",  # a second turn
)
REPLIES = (
    *(believes_reason, dies_of_unknown_tool, hides_names, keeps_one_of_an_id, leaves_nameless),
    *(merges_equal, parses_blindly, remembers_by_id),
)
ALL = [
    (fault, variant)
    for fault in table.FAULTS.values()
    for variant in fault.variants
    if f"{fault.id}.{variant.id}" not in table.REAL
]


@pytest.fixture(scope="module")
def known_bad() -> Iterator[list[Bench]]:
    """The personas that fail in the reference agent, and loops that fail whatever the model does."""
    with ExitStack() as stack:
        bad_loops = [
            stack.enter_context(table.seated(loop))
            for loop in (*loops.BAD, swaps, believes_folder, validates, cuts_session, *REPLIES)
        ]
        yield [*(table.bench(persona) for persona in OTHERS), *bad_loops]


@pytest.mark.parametrize(("fault", "variant"), ALL, ids=[f"{f.id}.{v.id}" for f, v in ALL])
def test_every_variant_convicts_somebody(fault: Fault, variant: Variant, known_bad: list[Bench]) -> None:
    assert any(
        convicted(table.play(name, notation.write(rule), by=bench))
        for bench in known_bad
        for name in FEW
        for rule in table.cells(name)
        if (rule.fault, rule.variant) == (fault.id, variant.id)
    )


def convicted(trial: table.Played) -> bool:
    return bool(trial.facts.fired) and trial.judgement.scored and not trial.judgement.acceptable
