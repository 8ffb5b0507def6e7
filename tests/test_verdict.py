"""The words of a verdict: each told once, in the order of the outcome table."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, is_dataclass
from typing import Any, get_args

import pytest

from forge_chaos import verdict
from forge_chaos.verdict import OUTCOMES, End, Facts, Outcome

FROZEN = [kind for kind in vars(verdict).values() if is_dataclass(kind) and isinstance(kind, type)]


def test_outcomes_are_told_once_and_in_one_order() -> None:
    assert get_args(Outcome) == OUTCOMES
    assert len(set(OUTCOMES)) == len(OUTCOMES) == 14
    assert OUTCOMES[:3] == ("invalid", "unfair", "not_reached")


def test_ends_are_those_of_the_design() -> None:
    assert set(get_args(End)) == {"answered", "limit", "stopped", "hung", "cancelled", "raised"}


@pytest.mark.parametrize("kind", FROZEN, ids=lambda kind: kind.__name__)
def test_data_is_frozen(kind: type[Any]) -> None:
    thing = object.__new__(kind)
    for field in fields(kind):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, field.name, 1)


def test_nothing_known_is_nothing_good() -> None:
    facts = Facts()
    assert (facts.goal, facts.claim, facts.fired) == ("wrong", "unclear", ())
