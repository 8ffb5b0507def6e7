"""Which faults a run is asked for: `--faults` and `--plan`, read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from forge_chaos import catalog, notation
from forge_chaos.errors import Misuse
from forge_chaos.nouns import Fault, Rule

NAMED = ("missing_file", "timeout", "malformed_output", "blocked_command", "truncated_context")
ALL = "all"


@dataclass(frozen=True, slots=True)
class Wanted:
    """`swept`: classes, each with what narrows it. `plans`: plans by hand, one trial each in every
    scenario. `every`: all classes were asked for, so that those which apply nowhere are left out."""

    swept: tuple[tuple[Fault, Rule], ...] = ()
    plans: tuple[tuple[Rule, ...], ...] = ()
    every: bool = False

    @property
    def classes(self) -> tuple[str, ...]:
        named = [fault.id for fault, _ in self.swept] + [rule.fault for plan in self.plans for rule in plan]
        return tuple(dict.fromkeys(named))


def wanted(faults: str | None, plan: str | None, seed: int, known: Mapping[str, Fault]) -> Wanted:
    """Read `--faults` (None: the five named classes, none beside a `--plan`) and `--plan`.

    Raises Misuse for a fault, variant or rule that does not exist, and when nothing is asked for.
    """
    plans: list[tuple[Rule, ...]] = []
    if plan is not None:
        plans.append(notation.parse_plan(plan, seed).rules)
    if faults is None:
        faults = "" if plans else ",".join(name for name in NAMED if name in known)
    every = faults.strip() == ALL
    swept: list[tuple[Fault, Rule]] = []
    for item in notation.parse_list(",".join(known) if every else faults):
        if item.swept:
            _worded(item.rule, known)
            swept.append((known[item.rule.fault], item.rule))
        else:
            plans.append((item.rule,))
    for rules in plans:
        for rule in rules:
            catalog.resolve(rule, known)
    if not swept and not any(plans):
        raise Misuse(
            f"no fault was asked for. Write --faults NAME,... or --faults all. "
            f"Known: {', '.join(known)}. (forge-chaos list faults)"
        )
    return Wanted(tuple(swept), tuple(rules for rules in plans if rules), every)


def _worded(rule: Rule, known: Mapping[str, Fault]) -> None:
    """Raises Misuse unless a swept item names what exists, and some variant has its wording."""
    catalog.resolve(replace(rule, text=None), known)
    having = [v.id for v in known[rule.fault].variants if rule.text is None or rule.text in v.text]
    if rule.variant is not None or not having:
        catalog.resolve(rule, known)
