"""The nouns: what they say of themselves, and that nobody changes them."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, is_dataclass
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_chaos import nouns
from forge_chaos.nouns import Fault, Ok, Plan, Role, Rule, ToolSpec, Variant, Verify, dice

FROZEN = [
    kind
    for kind in vars(nouns).values()
    if is_dataclass(kind) and isinstance(kind, type) and kind is not nouns.Call
]


@pytest.mark.parametrize("kind", FROZEN, ids=lambda kind: kind.__name__)
def test_data_is_frozen_and_has_no_place_for_more(kind: type[Any]) -> None:
    thing = object.__new__(kind)
    assert fields(kind)
    for field in fields(kind):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, field.name, 1)
    assert not hasattr(thing, "__dict__")


def test_roles_are_told_once() -> None:
    assert set(get_args(Role)) == set(nouns.ROLES)
    assert len(nouns.ROLES) == 6


def test_a_tool_as_an_openai_dict_does_not_share_its_schema() -> None:
    spec = ToolSpec("look", "Looks.", {"type": "object"}, frozenset({"read"}))
    told = spec.openai()
    assert told == {
        "type": "function",
        "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object"}},
    }
    told["function"]["parameters"]["type"] = "changed"
    assert spec.parameters == {"type": "object"}


def test_a_fault_knows_its_variants() -> None:
    first, second = Variant("a", "fail"), Variant("b", "fail")
    fault = Fault("f", "failure", "tool", "", "", (), (), {}, (first, second))
    assert fault.variant(None) is first
    assert fault.variant("b") is second
    with pytest.raises(KeyError, match="c"):
        fault.variant("c")


def test_a_rule_without_an_end_is_for_ever() -> None:
    assert Rule("timeout", last=None).ever
    assert not Rule("timeout").ever
    assert Plan((Rule("timeout"),), 1) == Plan((Rule("timeout"),), 1)
    assert hash(Plan((Rule("timeout"),), 1)) == hash(Plan((Rule("timeout"),), 1))


def test_how_a_write_is_read_back() -> None:
    verify = Verify(
        "read",
        {"path": "target", "kind": "=charge", "folder": lambda args: args["target"].upper(), "id": "missing"},
        lambda args, text: text == args["text"],
    )
    assert verify.asks({"target": "a", "text": "x"}) == {"path": "a", "kind": "charge", "folder": "A"}
    assert verify.holds({"text": "x"}, "x")


def test_results_are_equal_by_what_they_say() -> None:
    assert Ok([1]) == Ok([1])
    assert Ok(1) != Ok(2)


@given(st.integers(), st.lists(st.text(max_size=5) | st.integers() | st.none(), max_size=4))
def test_equal_places_have_equal_dice_and_different_ones_their_own(seed: int, where: list[Any]) -> None:
    first, again = dice(seed, *where), dice(seed, *where)
    assert [first.random() for _ in range(3)] == [again.random() for _ in range(3)]
    assert dice(seed, *where).random() != dice(seed + 1, *where).random()
    assert dice(seed, *where).random() != dice(seed, *where, "more").random()


def test_dice_are_the_same_in_every_process() -> None:
    assert dice(7, "timeout@2", "read_file", None, 3).randint(0, 10**9) == 287353782
