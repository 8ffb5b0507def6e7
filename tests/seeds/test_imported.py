"""A task has another hash when, and only when, its content is another."""

from __future__ import annotations

from forge_chaos.seeds.imported import hash


def test_the_order_of_keys_is_no_content() -> None:
    assert hash({"a": 1, "b": "ü"}) == hash({"b": "ü", "a": 1})
    assert hash({"a": 1}) != hash({"a": 2})
    assert hash({"a": 1}).startswith("b2:")
