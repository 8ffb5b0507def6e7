"""The ground truth of a world of records: tables, a ledger of effects, jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

POLLS = 3


class Tables:
    """Rows by table and id, and what cannot be taken back, in order.

    A row is replaced, never changed, so that the scenario's own rows can be shared by all trials.
    Ledger entries are `{"kind", ..., "n"}`, `n` counting from 1.
    """

    def __init__(
        self, records: Mapping[str, Mapping[str, Mapping[str, Any]]], values: Mapping[str, Any]
    ) -> None:
        self.rows: dict[str, dict[str, Mapping[str, Any]]] = {
            table: dict(rows) for table, rows in records.items()
        }
        self.ledger: list[dict[str, Any]] = []
        self.polls = max(1, int(values.get("polls", POLLS)))
        self.result = values.get("job_result", "finished")
        self.jobs: dict[str, int] = {}
        self._touched: set[str] = set()

    def table(self, name: str) -> dict[str, Mapping[str, Any]]:
        """Raises KeyError, naming the tables that there are."""
        rows = self.rows.get(name)
        if rows is None:
            raise KeyError(f"table {name!r} not found; there are: {', '.join(sorted(self.rows)) or 'none'}")
        return rows

    def row(self, table: str, id: str) -> Mapping[str, Any]:
        row = self.table(table).get(id)
        if row is None:
            raise KeyError(f"record {id!r} not found in table {table!r}")
        return row

    def put(self, table: str, id: str, row: Mapping[str, Any]) -> None:
        rows = self.table(table)
        if rows.get(id) != row:
            rows[id] = dict(row)
            self._touched.add(f"record:{table}/{id}")

    def enter(self, kind: str, **fields: Any) -> dict[str, Any]:
        """A new entry of the ledger."""
        entry = {"kind": kind, **fields, "n": len(self.ledger) + 1}
        self.ledger.append(entry)
        self._touched.add("ledger")
        return entry

    def resources(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            f"record:{table}/{id}": row for table, rows in self.rows.items() for id, row in rows.items()
        }
        found["ledger"] = list(self.ledger)
        return found

    def touched(self) -> tuple[str, ...]:
        touched, self._touched = tuple(sorted(self._touched)), set()
        return touched
