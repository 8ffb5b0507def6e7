from __future__ import annotations

from typing import Any

from forge_chaos.graders.record_equals import record_equals
from tests.traces import snapshot, started, trace

WORLD = trace(started(), snapshot({"record:orders/7": {"state": "paid", "amount": 12}}))


def truth(id: str | int, fields: dict[str, Any]) -> str:
    return record_equals(WORLD, table="orders", id=id, fields=fields).truth


def test_the_named_fields_decide() -> None:
    assert truth("7", {"state": "paid"}) == "pass"
    assert truth(7, {"state": "paid", "amount": 12}) == "pass"


def test_another_value_another_field_another_row() -> None:
    assert truth("7", {"state": "open"}) == "fail"
    assert truth("7", {"amount": "12"}) == "fail"
    assert truth("7", {"note": None}) == "fail"
    assert truth("8", {}) == "fail"


def test_unknown_world() -> None:
    assert record_equals(trace(started()), table="orders", id="7", fields={}).truth == "unknown"
