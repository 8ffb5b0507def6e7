"""Each variant of each fault class shows in some trial as none of its siblings does there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from forge_chaos import catalog, notation
from forge_chaos.bench import Bench, Setup
from forge_chaos.events import Asked, Injected, Noted, Started
from forge_chaos.nouns import Fault, Rule, Variant
from tests.conformance import table
from tests.conformance.table import Played

PLACES = (
    *("read_version", "count_warnings", "charge_once", "mail_report", "dedupe_payments", "sum_orders"),
    *("edit_port", "shared_notes", "three_reads"),  # an old answer, another hand, a batch
    "shell_folder",  # a shell that stands somewhere
    "count_then_write",  # a second turn
)
PERSONAS = ("expert", "stubborn", "gullible", "impatient", "naive")
ALL = [
    (fault, variant)
    for fault in table.FAULTS.values()
    for variant in fault.variants
    if f"{fault.id}.{variant.id}" not in table.REAL
]
Signature = tuple[str, str]


@cache
def signature(name: str, rule: Rule | None, bench: Bench) -> Signature:
    """How a trial went, with nothing in it that names rule, variant or mechanism: what was asked, told and
    executed, how much of the history the model was shown, the end, the world, and the outcome."""
    return signed(table.play(name, *([] if rule is None else [notation.write(rule)]), by=bench))


def signed(trial: Played) -> Signature:
    bodies: list[Any] = []
    for event in trial.trace:
        if isinstance(event.body, Injected) and event.body.request is not None:
            bodies.append(event.body.detail)
        elif not isinstance(event.body, Started | Injected | Noted | Asked):
            bodies.append(event.body)
    return repr(bodies), trial.outcome


def apart(fault: Fault, variant: Variant, benches: dict[str, Bench]) -> tuple[str, Rule, str] | None:
    """A scenario, a rule and a persona where no sibling's trial is like this variant's, nor the clean one.

    A sibling is put in the same place even where no sweep would plan it.
    """
    siblings = [other.id for other in fault.variants if other.id != variant.id]
    planned = [
        (name, replace(rule, variant=variant.id))
        for name in PLACES
        for rule in table.cells(name)
        if rule.fault == fault.id and rule.variant == variant.id.removeprefix("twin_of_")
    ]
    for name, rule in planned:
        for persona, bench in benches.items():
            mine = signature(name, rule, bench)
            others = (signature(name, replace(rule, variant=other), bench) for other in siblings)
            if mine != signature(name, None, bench) and mine not in others:
                return name, rule, persona
    return None


@pytest.mark.parametrize(("fault", "variant"), ALL, ids=[f"{f.id}.{v.id}" for f, v in ALL])
def test_it_changes_something_in_a_way_that_no_sibling_does(fault: Fault, variant: Variant) -> None:
    where = apart(fault, variant, {persona: table.bench(persona) for persona in PERSONAS})
    assert where is not None, f"{fault.id}.{variant.id}: every trial of it is the clean one or a sibling's"


@contextmanager
def with_twins(folder: Path, name: str, original: str) -> Iterator[Bench]:
    """A bench that knows the fault with a copy of its variant under another name."""
    text = (catalog.builtin("faults") / f"{name}.toml").read_text()
    tables = text.split("[[variants]]")
    copied = next(part for part in tables if f'"{original}"' in part)
    tables.insert(1, copied.replace(f'"{original}"', f'"twin_of_{original}"', 1).rstrip() + "\n\n")
    (folder / f"{name}.toml").write_text("[[variants]]".join(tables))
    bench = Bench(Setup(faults_dirs=(str(folder),)))
    try:
        yield bench
    finally:
        bench.close()


@pytest.mark.parametrize(("name", "id"), [("timeout", "late"), ("missing_file", "renamed")])
def test_a_variant_that_is_its_siblings_twin_would_be_found(tmp_path: Path, name: str, id: str) -> None:
    with with_twins(tmp_path, name, id) as bench:
        fault = bench.faults[name]
        assert apart(fault, fault.variant(f"twin_of_{id}"), {"expert": bench}) is None
        first = next(v for v in fault.variants if not v.id.endswith(id))
        assert apart(fault, first, {"expert": bench}) is not None
