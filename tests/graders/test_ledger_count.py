from __future__ import annotations

from forge_chaos.graders.ledger_count import ledger_count
from tests.traces import snapshot, started, trace

LEDGER = [
    {"kind": "charge", "order": "O1", "amount": 5},
    {"kind": "charge", "order": "O2", "amount": 5},
    {"kind": "mail", "order": "O1"},
]
WORLD = trace(started(), snapshot({"ledger": LEDGER}))


def test_counts_kind_order_and_fields() -> None:
    assert ledger_count(WORLD, kind="charge", count=2).truth == "pass"
    assert ledger_count(WORLD, kind="charge", order="O1", count=1).truth == "pass"
    assert ledger_count(WORLD, kind="charge", fields={"amount": 5}, count=2).truth == "pass"
    assert ledger_count(WORLD, kind="refund", count=0).truth == "pass"


def test_another_count_fails_and_says_both() -> None:
    found = ledger_count(WORLD, kind="charge", count=1)
    assert found.truth == "fail"
    assert "2 x" in found.why
    assert "not 1" in found.why


def test_unknown() -> None:
    assert ledger_count(trace(started()), kind="charge", count=0).truth == "unknown"
    cut = trace(started(), snapshot({"ledger": {"$type": "list", "$repr": "..."}}))
    assert ledger_count(cut, kind="charge", count=0).truth == "unknown"
