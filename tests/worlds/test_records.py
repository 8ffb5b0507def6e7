from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from forge_chaos.nouns import Err
from forge_chaos.worlds._ground import Ground
from forge_chaos.worlds.records import records
from tests.worlds.playing import ask, call, refused, scenario

ROWS = {"orders": {"O2": {"status": "open", "total": 7.5}, "O1": {"status": "paid", "total": 5}}, "notes": {}}


def made(**fields: Any) -> Ground:
    return records(scenario(records=ROWS, files={"a.txt": b"a"}, **fields), asyncio.sleep)


@pytest.fixture
def world() -> Ground:
    return made()


def test_reading(world: Ground) -> None:
    assert call(world, "get_record", table="orders", id="O1") == '{"id": "O1", "status": "paid", "total": 5}'
    assert [row["id"] for row in json.loads(call(world, "list_records", table="orders"))] == ["O1", "O2"]
    assert call(world, "list_records", table="notes") == "[]"
    with pytest.raises(KeyError, match="record 'O9' not found in table 'orders'"):
        call(world, "get_record", table="orders", id="O9")
    with pytest.raises(KeyError, match="table 'order' not found; there are: notes, orders"):
        call(world, "list_records", table="order")
    assert call(world, "read_file", path="a.txt") == "a", "the file tools are there too"
    assert world.touched() == ()


def test_creating_and_updating(world: Ground) -> None:
    assert (
        call(world, "create_record", table="notes", id="N1", fields={"text": "é"})
        == "created record N1 in notes"
    )
    assert call(world, "update_record", table="orders", id="O2", fields={"status": "paid"}) == (
        "updated record O2 in orders"
    )
    assert world.touched() == ("record:notes/N1", "record:orders/O2")
    assert world.resources()["record:orders/O2"] == {"status": "paid", "total": 7.5}
    assert world.resources()["record:notes/N1"] == {"text": "é"}
    call(world, "update_record", table="orders", id="O2", fields={"status": "paid"})
    assert world.touched() == (), "nothing new"
    with pytest.raises(KeyError, match="record 'N1' already exists in table 'notes'"):
        call(world, "create_record", table="notes", id="N1", fields={})
    with pytest.raises(KeyError, match="'N2' not found"):
        call(world, "update_record", table="notes", id="N2", fields={})
    assert refused(world, "update_record", table="orders", id="O1", fields="paid").code == "invalid_arguments"


def test_trials_do_not_see_each_other(world: Ground) -> None:
    call(world, "update_record", table="orders", id="O1", fields={"status": "void"})
    call(world, "charge", order="O1", amount=5)
    assert made().resources()["record:orders/O1"] == {"status": "paid", "total": 5}
    assert made().resources()["ledger"] == []
    assert ROWS["orders"]["O1"] == {"status": "paid", "total": 5}


def test_effects_go_into_the_ledger_each_time(world: Ground) -> None:
    assert call(world, "charge", order="O1", amount=5) == "charged 5 for order O1 (entry 1)"
    assert call(world, "charge", order="O1", amount=5) == "charged 5 for order O1 (entry 2)"
    assert call(world, "refund", order="O2", amount=7.5) == "refunded 7.5 for order O2 (entry 3)"
    assert (
        call(world, "send_mail", to="x@example.org", subject="s", text="t")
        == "sent mail to x@example.org (entry 4)"
    )
    assert json.loads(call(world, "list_ledger")) == world.resources()["ledger"]
    assert world.resources()["ledger"] == [
        {"kind": "charge", "order": "O1", "amount": 5, "n": 1},
        {"kind": "charge", "order": "O1", "amount": 5, "n": 2},
        {"kind": "refund", "order": "O2", "amount": 7.5, "n": 3},
        {"kind": "mail", "to": "x@example.org", "subject": "s", "text": "t", "n": 4},
    ]
    assert [e["n"] for e in json.loads(call(world, "list_ledger", kind="charge"))] == [1, 2]
    assert [e["n"] for e in json.loads(call(world, "list_ledger", order="O2", kind=None))] == [3]
    assert world.touched() == ("ledger",)


@pytest.mark.parametrize("amount", [0, -1, float("nan"), float("inf")])
def test_no_payment_of_nothing(world: Ground, amount: float) -> None:
    with pytest.raises(ValueError, match="amount must be more than 0"):
        call(world, "charge", order="O1", amount=amount)
    assert world.resources()["ledger"] == []


def test_an_idempotency_key_makes_it_one_payment(world: Ground) -> None:
    first = call(world, "charge", order="O1", amount=5, idempotency_key="k")
    world.touched()
    assert call(world, "charge", order="O1", amount=5, idempotency_key="k") == first
    assert world.touched() == ()
    assert len(world.resources()["ledger"]) == 1
    for other in ({"order": "O2", "amount": 5}, {"order": "O1", "amount": 6}):
        with pytest.raises(ValueError, match="'k' was used for another payment"):
            call(world, "charge", idempotency_key="k", **other)
    with pytest.raises(ValueError, match="'k' was used for another payment"):
        call(world, "refund", order="O1", amount=5, idempotency_key="k")
    call(world, "charge", order="O1", amount=5, idempotency_key="k2")
    assert len(world.resources()["ledger"]) == 2


@pytest.mark.parametrize(
    ("values", "polls"), [({}, 3), ({"polls": 1}, 1), ({"polls": 5, "job_result": [1]}, 5)]
)
def test_a_job_is_done_after_so_many_polls(values: dict[str, Any], polls: int) -> None:
    world = made(values=values)
    started = json.loads(call(world, "start_job", name="index"))
    assert started == {"id": "job-1", "status": "running", "progress": 0, "result": None}
    seen = [json.loads(call(world, "poll_job", id="job-1")) for _ in range(polls + 1)]
    assert [one["status"] for one in seen] == ["running"] * (polls - 1) + ["done"] * 2
    assert [one["progress"] for one in seen] == [*(100 * n // polls for n in range(1, polls + 1)), 100]
    assert seen[-1]["result"] == values.get("job_result", "finished")
    assert [e["name"] for e in world.resources()["ledger"]] == ["index"]
    with pytest.raises(KeyError, match="job 'job-2' not found"):
        call(world, "poll_job", id="job-2")


def test_every_spec_says_what_it_must() -> None:
    specs = records.specs
    effects = {name for name, spec in specs.items() if "effect" in spec.roles}
    assert effects == {"append_file", "charge", "refund", "send_mail", "start_job"}
    assert {name for name, spec in specs.items() if spec.poll} == {"poll_job"}
    assert {name for name, spec in specs.items() if spec.idempotency} == {"charge", "refund"}
    targets = {
        "get_record": "id",
        "list_records": "table",
        "create_record": "id",
        "update_record": "id",
        "charge": "order",
        "refund": "order",
        "send_mail": "to",
        "list_ledger": "kind",
        "start_job": "name",
        "poll_job": "id",
    }
    assert {name: specs[name].target for name in targets} == targets
    for name in effects | {"create_record", "update_record"}:
        assert specs[name].returns, name
        assert specs[name].verify, name
        assert specs[name].settle > 0, name


CHANGES = [
    ("create_record", {"table": "notes", "id": "N1", "fields": {"text": "a "}}),
    ("update_record", {"table": "orders", "id": "O2", "fields": {"status": "paid"}}),
    ("charge", {"order": "O1", "amount": 5}),
    ("charge", {"order": "O1", "amount": 5, "idempotency_key": "k"}),
    ("refund", {"order": "O 1", "amount": 0.1}),
    ("send_mail", {"to": "x@example.org", "subject": "s\nt", "text": "long\n"}),
    ("start_job", {"name": "index"}),
]


@pytest.mark.parametrize(("tool", "args"), CHANGES)
def test_a_change_is_read_back_after_it_and_not_before(
    world: Ground, tool: str, args: dict[str, Any]
) -> None:
    spec = world.specs[tool]
    verify = spec.verify
    assert verify is not None
    assert spec.returns is not None

    def there(given: dict[str, Any]) -> bool:
        found = asyncio.run(ask(world, verify.tool, **verify.asks(given)))
        return not isinstance(found, Err) and verify.holds(given, found.value)

    assert not there(args)
    assert re.fullmatch(spec.returns, call(world, tool, **args))
    assert there(args)
    other = {**args, "fields": {"text": "b"}} if "fields" in args else {**args, list(args)[-1]: "other"}
    assert not there(other)
    assert not verify.holds(args, "Error: no JSON")
