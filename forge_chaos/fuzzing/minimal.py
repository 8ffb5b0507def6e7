"""Making a plan that fails smaller, one step at a time, until no step leaves the failure as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from forge_chaos.nouns import Rule
from forge_chaos.space import Space

Rules: TypeAlias = tuple[Rule, ...]


def ordered(plan: Sequence[Rule], space: Space) -> Rules:
    """Each rule once, in the order of the calls: equal plans are written the same."""
    return tuple(sorted(dict.fromkeys(plan), key=space.position))


def smaller(plan: Rules, space: Space) -> Iterator[Rules]:
    """The plans that are one step simpler: without one rule, then with one rule made simpler."""
    yield from _fewer(plan)
    for at in range(len(plan)):
        yield from _simpler(plan, at, space)


def minimal(
    plan: Rules, space: Space, fails: Callable[[Rules], bool], keep: Callable[[Rules], None]
) -> Rules:
    """The plan that is left when no step of `smaller` fails any more: such a plan is 1-minimal.

    `keep` is told of each plan on the way. What `fails` raises ends it. A step is not taken up from the
    first rule again, since a plan that is known costs nothing and one with another rule does.
    """
    before: Rules = ()
    while plan != before:
        before = plan
        plan = _descended(plan, _fewer, fails, keep)
        for at in range(len(plan)):
            plan = _descended(plan, partial(_simpler, at=at, space=space), fails, keep)
    return ordered(plan, space)


def _descended(
    plan: Rules,
    steps: Callable[[Rules], Iterator[Rules]],
    fails: Callable[[Rules], bool],
    keep: Callable[[Rules], None],
) -> Rules:
    """The plan after steps of one kind, the first that fails each time."""
    while (step := next((step for step in steps(plan) if fails(step)), None)) is not None:
        plan = step
        keep(plan)
    return plan


def _fewer(plan: Rules) -> Iterator[Rules]:
    return (plan[:at] + plan[at + 1 :] for at in range(len(plan)) if len(plan) > 1)


def _simpler(plan: Rules, at: int, space: Space) -> Iterator[Rules]:
    for simpler in space.simpler(plan[at]):
        if simpler not in plan:
            yield (*plan[:at], simpler, *plan[at + 1 :])
