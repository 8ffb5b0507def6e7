"""Making a plan that fails smaller, one step at a time, until no step leaves the failure as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from forge_chaos.nouns import Rule
from forge_chaos.space import Space

Rules: TypeAlias = tuple[Rule, ...]


def ordered(plan: Sequence[Rule], space: Space) -> Rules:
    """Each rule once, in the order of the calls: equal plans are written the same."""
    return tuple(sorted(dict.fromkeys(plan), key=space.position))


def smaller(plan: Rules, space: Space) -> Iterator[Rules]:
    """The plans that are one step simpler: without one rule, then with one rule made simpler."""
    for at in range(len(plan)):
        if len(plan) > 1:
            yield plan[:at] + plan[at + 1 :]
    for at, rule in enumerate(plan):
        rest = plan[:at] + plan[at + 1 :]
        for simpler in space.simpler(rule):
            if simpler not in rest:
                yield ordered((*plan[:at], simpler, *plan[at + 1 :]), space)


def minimal(
    plan: Rules, space: Space, fails: Callable[[Rules], bool], keep: Callable[[Rules], None]
) -> Rules:
    """The plan that is left when no step of `smaller` fails any more: such a plan is 1-minimal.

    `keep` is told of each plan on the way. What `fails` raises ends it.
    """
    while True:
        for candidate in smaller(plan, space):
            if fails(candidate):
                plan = candidate
                keep(plan)
                break
        else:
            return plan
