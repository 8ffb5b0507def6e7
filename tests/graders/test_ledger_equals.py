from __future__ import annotations

from typing import Any

from forge_chaos.graders.ledger_equals import ledger_equals
from tests.traces import snapshot, started, trace

A = {"id": 1, "kind": "charge", "order": "O1", "amount": 5}
B = {"id": 2, "kind": "mail", "order": "O1"}


def truth(ledger: object, entries: list[dict[str, Any]], ordered: bool = False) -> str:
    return ledger_equals(
        trace(started(), snapshot({"ledger": ledger})), entries=entries, ordered=ordered
    ).truth


def test_each_entry_once_in_any_order() -> None:
    assert truth([A, B], [{"kind": "mail"}, {"kind": "charge", "amount": 5}]) == "pass"


def test_one_too_many_one_too_few_another() -> None:
    assert truth([A, A], [{"kind": "charge"}]) == "fail"
    assert truth([A], [{"kind": "charge"}, {"kind": "charge"}]) == "fail"
    assert truth([A], [{"kind": "charge", "amount": 6}]) == "fail"


def test_an_exact_entry_is_not_taken_by_a_vague_one() -> None:
    assert truth([A, {**A, "amount": 9}], [{"kind": "charge"}, {"kind": "charge", "amount": 5}]) == "pass"


def test_ordered() -> None:
    assert truth([A, B], [{"kind": "charge"}, {"kind": "mail"}], ordered=True) == "pass"
    assert truth([A, B], [{"kind": "mail"}, {"kind": "charge"}], ordered=True) == "fail"


def test_no_ledger_is_an_empty_one() -> None:
    assert ledger_equals(trace(started(), snapshot()), entries=[]).truth == "pass"


def test_unknown() -> None:
    assert truth({"$type": "list", "$repr": "..."}, []) == "unknown"
    assert ledger_equals(trace(started(), snapshot(known=False)), entries=[]).truth == "unknown"
