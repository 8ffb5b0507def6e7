"""What these tests share: built-in scenarios, cells and personas, played and judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from forge_chaos import catalog, notation, registry, sweep
from forge_chaos.adapters.native import adapter
from forge_chaos.bench import Bench, Setup
from forge_chaos.events import Trace
from forge_chaos.judging import Judge
from forge_chaos.nouns import Fault, Rule, Scenario, Variant
from forge_chaos.order import Order
from forge_chaos.verdict import Facts, Judgement

SEED = 1
NAMES = catalog.scenario_names()
FAULTS = catalog.faults()
REAL = (
    "timeout.outlived",
)  # acts on real processes alone: tests/mechanisms/test_outlive.py has who is convicted
PERSONAS = registry.names("personas")
_benches: dict[str, Bench] = {}


@dataclass(frozen=True, slots=True)
class Played:
    """One trial with its judgement."""

    order: Order
    trace: Trace
    facts: Facts
    judgement: Judgement

    @property
    def outcome(self) -> str:
        return self.judgement.outcome

    def __str__(self) -> str:
        """What reproduces it, and how it ended: shown when an assertion fails."""
        rules = ",".join(self.order.rules) or "no rule"
        said = self.judgement
        return f"{self.order.scenario} under {rules}: {said.outcome}, bar {said.bar}: {said.why}"


def bench(persona: str = "expert") -> Bench:
    """The bench of the reference agent with that persona behind the wire, one a session."""
    if persona not in _benches:
        _benches[persona] = Bench(Setup(persona=persona))
    return _benches[persona]


def close() -> None:
    """End the loops of those benches."""
    while _benches:
        _benches.popitem()[1].close()


@cache
def _judge(home: Bench) -> Judge:
    return Judge(home)


def judge(by: Bench | None = None) -> Judge:
    """The judge of a bench's trials. Benches that know only what is built in share one."""
    own = by is not None and (by.setup.faults_dirs or by.setup.scenarios_dirs)
    return _judge(by if by is not None and own else bench())


def scenario(name: str, seed: int = SEED) -> Scenario:
    return bench().scenario(name, seed)


def play(name: str, *rules: str, by: Bench | None = None, seed: int = SEED) -> Played:
    """A trial of the reference agent, or of whoever sits at the bench `by`."""
    order = Order(f"{name} {rules}", name, rules, seed)
    at = by or bench()
    trace = at.trace(order)
    return Played(order, trace, *judge(at)(trace, at.scenario(name, seed)))


@cache
def cells(name: str, persona: str = "expert") -> tuple[Rule, ...]:
    """Everything that a sweep of all classes plans on the persona's clean trial."""
    return sweep.cells(play(name, by=bench(persona)).trace, tuple(FAULTS.values()))


def swept(name: str, persona: str = "expert", faults: Iterable[str] = FAULTS) -> Iterator[Played]:
    """Every cell of these classes, played."""
    wanted = set(faults)
    for rule in cells(name, persona):
        if rule.fault in wanted:
            yield play(name, notation.write(rule), by=bench(persona))


@contextmanager
def seated(function: Any, persona: str = "expert") -> Iterator[Bench]:
    """A bench with a native agent in its seat."""
    made = Bench(Setup(persona=persona))
    made.seat = adapter.seat(function)
    try:
        yield made
    finally:
        made.close()


def seam(fault: Fault, variant: Variant) -> str:
    return variant.seam or fault.seam
