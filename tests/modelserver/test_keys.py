from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from forge_chaos.modelserver.keys import OURS, call_id, canonical, key

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
ARGS = st.dictionaries(st.text(max_size=4), VALUES, max_size=4)


@given(ARGS)
def test_a_key_survives_what_frameworks_do_to_arguments(args: dict[str, Any]) -> None:
    before = key("tool", args)
    assert key("tool", json.loads(json.dumps(args))) == before
    assert key("tool", dict(reversed(list(args.items())))) == before
    assert key("tool", {**args, "left out": None}) == before
    assert key("tool", {name: f" {v}\n" if isinstance(v, str) else v for name, v in args.items()}) == before
    assert key("other", args) != before


@given(st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), min_size=1, max_size=3))
def test_a_string_that_is_json_is_the_object(inner: dict[str, Any]) -> None:
    assert key("write", {"text": json.dumps(inner)}) == key("write", {"text": inner})


def test_numbers_and_truth_are_equal_in_any_spelling() -> None:
    assert canonical({"a": 1.0, "b": True, "c": "x"}) == canonical({"c": " x ", "b": "true", "a": "1"})
    assert canonical(1.5) != canonical(1)


def test_different_arguments_are_different_keys() -> None:
    assert key("read", {"path": "a"}) != key("read", {"path": "b"})
    assert key("read", {"path": "a"}) != key("read", {"name": "a"})


def test_an_id_of_ours_carries_the_key_whatever_became_of_the_arguments() -> None:
    ours = key("read", {"path": "a"})
    assert key("read", {"_raw": "mangled"}, call_id(ours, 3)) == ours
    assert OURS.fullmatch(call_id(ours, 0))
    assert key("read", {"path": "a"}, "call_foreign") == ours


def test_arguments_that_are_no_text_have_a_key() -> None:
    assert key("read", {"path": "\ud800", "n": float("inf")})
