"""A run written to a store by a process that ends itself with SIGKILL at one chosen SQL statement.

`python -m tests.store_writer DIRECTORY ACKNOWLEDGED N`: die just before statement N (0: never). What the
store has acknowledged is appended to the file ACKNOWLEDGED: trial ids, then `finish`.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from forge_chaos.events import Event, Finished, Started, Trace
from forge_chaos.store import Store
from forge_chaos.verdict import Facts, Judgement, Trial

IDS = tuple(f"t{n}" for n in range(10))
BATCH = 3
CONFIG = {
    "agent": "pkg:agent",
    "versions": {"forge-chaos": "0.1"},
    "scenarios": {"sum": "b2:1"},
    "options": {},
}
CARD = {"exit": 0, "trials": len(IDS)}


def trial(id: str, *, acceptable: bool = True, **changes: object) -> Trial:
    judgement = Judgement("recovered" if acceptable else "silent", acceptable, True, "", bar="full")
    whole = Trial(id, "sum", "fault", ("timeout",), 1, 0, ("timeout",), Facts(goal="full"), judgement)
    return Trial(**{**{name: getattr(whole, name) for name in Trial.__slots__}, **changes})


def trace(id: str) -> Trace:
    return (Event(0, 0.0, Started("sum", "b2:1", id, "none", (), 1)), Event(1, 0.5, Finished("answered", id)))


def create(directory: Path, **options: Any) -> Store:
    return Store.create(directory, {**CONFIG, **options.pop("config", {})}, clock=lambda: 0.0, **options)


def filled(directory: Path, *ids: str, **options: Any) -> None:
    with create(directory, **options) as store:
        for id in ids:
            store.add(trial(id), trace(id))


def ids(store: Store) -> list[str]:
    return [trial.id for trial in store.trials()]


def committed(directory: Path) -> list[str]:
    with Store.open(directory) as other:
        return ids(other)


class Statements:
    """Counts the SQL statements of a connection; ends the process before number `fatal`."""

    def __init__(self, fatal: int) -> None:
        self.fatal = fatal
        self.seen: list[str] = []

    def __call__(self, statement: str) -> None:
        self.seen.append(statement)
        if len(self.seen) == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)


def write(directory: Path, acknowledged: Path, fatal: int = 0) -> list[str]:
    """A whole run, or as much of it as there is before the end; the statements that it took."""
    with open(acknowledged, "ab", buffering=0) as acknowledge:
        store = Store.create(directory, CONFIG, batch=BATCH, clock=lambda: 0.0)
        statements = Statements(fatal)
        store._base.set_trace_callback(statements)
        store.plan(IDS)
        for n, id in enumerate(IDS, 1):
            store.add(trial(id), trace(id))
            if n % BATCH == 0:
                acknowledge.write("".join(f"{id}\n" for id in IDS[n - BATCH : n]).encode())
        store.commit()
        acknowledge.write(f"{IDS[-1]}\n".encode())
        store.finish(CARD)
        acknowledge.write(b"finish\n")
        store._base.set_trace_callback(None)
        store.close()
    return statements.seen


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
