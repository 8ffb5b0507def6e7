"""The record tools: tables to read and write, and effects that cannot be taken back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, Protocol

from forge_chaos.nouns import Verify
from forge_chaos.worlds._tables import Tables
from forge_chaos.worlds._tools import Block, Parameter, block, optional

SETTLE = 60.0


class Ground(Protocol):
    """What a record tool needs of the ground truth."""

    @property
    def tables(self) -> Tables: ...


def get_record(ground: Ground, table: str, id: str) -> str:
    return _json({"id": id, **ground.tables.row(table, id)})


def list_records(ground: Ground, table: str) -> str:
    return _json([{"id": id, **row} for id, row in sorted(ground.tables.table(table).items())])


def create_record(ground: Ground, table: str, id: str, fields: dict[str, Any]) -> str:
    if id in ground.tables.table(table):
        raise KeyError(f"record {id!r} already exists in table {table!r}")
    ground.tables.put(table, id, fields)
    return f"created record {id} in {table}"


def update_record(ground: Ground, table: str, id: str, fields: dict[str, Any]) -> str:
    ground.tables.put(table, id, {**ground.tables.row(table, id), **fields})
    return f"updated record {id} in {table}"


def charge(ground: Ground, order: str, amount: float, idempotency_key: str | None = None) -> str:
    return _pay(ground, "charge", "charged", order, amount, idempotency_key)


def refund(ground: Ground, order: str, amount: float, idempotency_key: str | None = None) -> str:
    return _pay(ground, "refund", "refunded", order, amount, idempotency_key)


def _pay(ground: Ground, kind: str, done: str, order: str, amount: float, key: str | None) -> str:
    """A key that was used before makes it the same payment, or an error when it is another one."""
    if not isfinite(amount) or amount <= 0:
        raise ValueError(f"amount must be more than 0, not {amount}")
    fields: dict[str, Any] = {"order": order, "amount": amount}
    if key is not None:
        fields["idempotency_key"] = key
    known = next(
        (e for e in ground.tables.ledger if key is not None and e.get("idempotency_key") == key), None
    )
    if known is not None and {**known, **fields, "kind": kind} != known:
        raise ValueError(f"idempotency_key {key!r} was used for another payment")
    entry = known or ground.tables.enter(kind, **fields)
    return f"{done} {_json(amount)} for order {order} (entry {entry['n']})"


def send_mail(ground: Ground, to: str, subject: str, text: str) -> str:
    entry = ground.tables.enter("mail", to=to, subject=subject, text=text)
    return f"sent mail to {to} (entry {entry['n']})"


def list_ledger(ground: Ground, kind: str | None = None, order: str | None = None) -> str:
    return _json(
        [
            entry
            for entry in ground.tables.ledger
            if (kind is None or entry["kind"] == kind) and (order is None or entry.get("order") == order)
        ]
    )


def start_job(ground: Ground, name: str) -> str:
    id = f"job-{len(ground.tables.jobs) + 1}"
    ground.tables.jobs[id] = 0
    ground.tables.enter("job", id=id, name=name)
    return _job(ground, id)


def poll_job(ground: Ground, id: str) -> str:
    if id not in ground.tables.jobs:
        raise KeyError(f"job {id!r} not found")
    ground.tables.jobs[id] = min(ground.tables.jobs[id] + 1, ground.tables.polls)
    return _job(ground, id)


def _job(ground: Ground, id: str) -> str:
    polled, needed = ground.tables.jobs[id], ground.tables.polls
    done = polled >= needed
    return _json(
        {
            "id": id,
            "status": "done" if done else "running",
            "progress": 100 * polled // needed,
            "result": ground.tables.result if done else None,
        }
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _holds(text: str, want: Callable[[Mapping[str, Any]], bool]) -> bool:
    """Is there such an entry or row in a JSON text?"""
    try:
        found = json.loads(text)
    except ValueError:
        return False
    return any(isinstance(one, dict) and want(one) for one in (found if isinstance(found, list) else [found]))


def _same(kept: Any, given: Any) -> bool:
    """Equal but for white space at the ends, which some frameworks take off their arguments."""
    if isinstance(kept, str) and isinstance(given, str):
        return kept.strip() == given.strip()
    return bool(kept == given)


def _entered(*names: str) -> Callable[[Mapping[str, Any], str], bool]:
    def holds(args: Mapping[str, Any], text: str) -> bool:
        given = {name: args[name] for name in names if args.get(name) is not None}
        return _holds(text, lambda entry: all(_same(entry.get(name), value) for name, value in given.items()))

    return holds


def _stored(args: Mapping[str, Any], text: str) -> bool:
    fields: Mapping[str, Any] = args["fields"]
    return _holds(text, lambda row: all(_same(row.get(name), value) for name, value in fields.items()))


_TABLE = Parameter("string", "Name of the table.")
_ID = Parameter("string", "Id of the record.")
_ORDER = Parameter("string", "Id of the order.")
_AMOUNT = Parameter("number", "Amount, more than 0.")
_KEY = optional("string", "The same key again is the same payment: it is not made twice.")
_ROW = Verify("get_record", {"table": "table", "id": "id"}, _stored)


def _payment(function: Callable[..., str], description: str, done: str) -> Block:
    return block(
        function,
        description,
        {"order": _ORDER, "amount": _AMOUNT, "idempotency_key": _KEY},
        ["effect", "network"],
        target="order",
        returns=rf"{done} \S+ for order (?s:.+) \(entry \d+\)",
        verify=Verify(
            "list_ledger",
            {"kind": f"={function.__name__}", "order": "order"},
            _entered("order", "amount", "idempotency_key"),
        ),
        settle=SETTLE,
        idempotency="idempotency_key",
    )


RECORD_TOOLS: Mapping[str, Block] = {
    one.spec.name: one
    for one in (
        block(
            get_record,
            "Read one record: a JSON object with its id and fields.",
            {"table": _TABLE, "id": _ID},
            ["read"],
            target="id",
        ),
        block(
            list_records,
            "Read all records of a table: a JSON array of objects, sorted by id.",
            {"table": _TABLE},
            ["read"],
            target="table",
        ),
        block(
            create_record,
            "Make a new record. Fails when the id is taken.",
            {"table": _TABLE, "id": _ID, "fields": Parameter("object", "The record's fields.")},
            ["write"],
            target="id",
            returns=r"created record (?s:.+) in (?s:.+)",
            verify=_ROW,
            settle=SETTLE,
        ),
        block(
            update_record,
            "Change some fields of a record; the others stay.",
            {"table": _TABLE, "id": _ID, "fields": Parameter("object", "The fields to change.")},
            ["write"],
            target="id",
            returns=r"updated record (?s:.+) in (?s:.+)",
            verify=_ROW,
            settle=SETTLE,
        ),
        _payment(charge, "Charge the customer of an order. Doing it twice charges twice.", "charged"),
        _payment(refund, "Pay money back for an order. Doing it twice pays twice.", "refunded"),
        block(
            send_mail,
            "Send an e-mail. It cannot be taken back.",
            {
                "to": Parameter("string", "Address of the receiver."),
                "subject": Parameter("string", "Subject line."),
                "text": Parameter("string", "Body."),
            },
            ["effect", "network"],
            target="to",
            returns=r"sent mail to (?s:.+) \(entry \d+\)",
            verify=Verify("list_ledger", {"kind": "=mail"}, _entered("to", "subject", "text")),
            settle=SETTLE,
        ),
        block(
            list_ledger,
            "What has been charged, refunded, mailed and started so far: a JSON array, oldest first.",
            {
                "kind": optional("string", "Only these: charge, refund, mail or job."),
                "order": optional("string", "Only those of this order."),
            },
            ["read"],
            target="kind",
        ),
        block(
            start_job,
            "Start a job that runs on its own. Gives its id and status as JSON; ask with poll_job.",
            {"name": Parameter("string", "What is to be done.")},
            ["effect", "network"],
            target="name",
            returns=r'\{"id": "job-\d+", "status": "(?:running|done)", .*\}',
            verify=Verify("list_ledger", {"kind": "=job"}, _entered("name")),
            settle=SETTLE,
        ),
        block(
            poll_job,
            'How far a job is: JSON with id, status ("running" or "done"), progress in percent and result.',
            {"id": Parameter("string", "Id that start_job gave.")},
            ["read"],
            target="id",
            poll=True,
        ),
    )
}
