"""Events: frozen, each of its own kind, found by kind."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from typing import get_args

import pytest

from forge_chaos import events
from forge_chaos.events import BODIES, Body, Called, Event, Noted, Returned, Told, find


def test_every_body_is_known_by_its_kind() -> None:
    assert set(BODIES.values()) == set(get_args(Body))
    assert {kind: body.__name__.lower() for kind, body in BODIES.items()} == {kind: kind for kind in BODIES}


@pytest.mark.parametrize("kind", [*BODIES.values(), Event, Told], ids=lambda kind: kind.__name__)
def test_no_event_is_ever_changed(kind: type[Body]) -> None:
    thing = object.__new__(kind)
    for field in fields(kind):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, field.name, 1)
    assert not hasattr(thing, "__dict__")


def test_find_keeps_order_and_numbers() -> None:
    bodies: list[Body] = [Noted("a"), Called(1, "x", {}), Noted("b"), Returned(1, Told(3))]
    trace = tuple(Event(n, 0.0, body) for n, body in enumerate(bodies))
    assert list(find(trace, Noted)) == [(0, bodies[0]), (2, bodies[2])]
    assert list(find(trace, events.Executed)) == []


def test_a_result_is_ok_without_an_error() -> None:
    assert Told(None).ok
    assert not Told(error={}).ok
