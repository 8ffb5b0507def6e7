"""The run store: one directory a run, one SQLite file in it, one writer.

Trials are committed in batches; what `commit` has returned for survives kill -9 at any moment. A trial
is a row under its id with its place in the plan: added twice, it is replaced and counted once; planned
and not added, it is missing, and `--resume` runs it.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path
from types import TracebackType
from typing import Any

from forge_chaos import tracefile, trialfile
from forge_chaos.errors import Misuse
from forge_chaos.events import Trace
from forge_chaos.keep import KEEP, Kept, keep_traces
from forge_chaos.runfile import FILE, SCHEMA, connect, damaged, meaning, unwritable
from forge_chaos.runs import compatible, next_directory
from forge_chaos.verdict import Trial

FORMAT = 1
BATCH = 100  # trials
PATIENCE = 1.0  # seconds from commit to commit at most, where trials come slowly and may cost money


class Store:
    """A run on disk. Use it as a context manager, or `close` it: closing commits.

    Every method raises Misuse when the file is damaged, and Broken when it can no longer be written
    (disk full, taken away); what was committed before is kept.
    """

    def __init__(
        self,
        directory: Path,
        base: sqlite3.Connection,
        config: dict[str, Any],
        batch: int,
        clock: Callable[[], float],
    ) -> None:
        self.directory = directory
        self.config = config
        self._base = base
        self._kept = Kept(base, keep_traces(config.get("keep_traces", KEEP)))
        self._batch = batch
        self._clock = clock
        self._waiting = 0
        self._since = clock()
        self._seat: int | None = None

    @classmethod
    def create(
        cls,
        directory: str | Path,
        config: Mapping[str, Any],
        *,
        batch: int = BATCH,
        clock: Callable[[], float] = time.monotonic,
    ) -> Store:
        """A new run in `directory`, which is made when it is not there.

        `config` is JSON: what `compatible` compares, `options`, and `keep_traces` ("all", "failures" or a
        number). Raises Misuse when a run is there already or nothing can be written there.
        """
        directory = Path(directory)
        config = {**config, "format": FORMAT}
        keep_traces(config.get("keep_traces", KEEP))
        try:
            directory.mkdir(parents=True, exist_ok=True)
            # Exclusive: of two processes one gets the directory and the other the message.
            os.close(os.open(directory / FILE, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        except FileExistsError as error:
            if not directory.is_dir():
                raise unwritable(directory, error) from None
            raise Misuse(
                f"{directory} holds a run already. Go on with it by --resume {directory}, or name another --out."
            ) from None
        except OSError as error:
            raise unwritable(directory, error) from None
        store = cls(directory, connect(directory), config, batch, clock)
        try:
            # One transaction: a run killed while it is being made is no run, never half a one.
            with store._writing():
                for statement in SCHEMA:
                    store._base.execute(statement)
                store._put("config", config)
            store.commit()
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def open(
        cls, directory: str | Path, *, batch: int = BATCH, clock: Callable[[], float] = time.monotonic
    ) -> Store:
        """The run in `directory`, to read or to go on with. Raises Misuse when there is none, or none
        that this version can read."""
        directory = Path(directory)
        if not (directory / FILE).is_file():
            what = "no run there" if directory.is_dir() else "no such directory"
            raise Misuse(
                f"{directory}: {what} ({FILE} is missing). Name a run's directory, such as reports/0001-reference."
            )
        store = cls(directory, connect(directory), {}, batch, clock)
        try:
            store._read_config()
        except BaseException:
            store.close()
            raise
        return store

    def _read_config(self) -> None:
        with self._plainly():
            begun = self._base.execute("SELECT 1 FROM sqlite_master WHERE name = 'run'").fetchone()
        if not begun:
            raise Misuse(
                f"{self.directory}: no run there: it was stopped before it began. "
                f"Remove the directory and start the run anew."
            )
        config = self._get("config")
        if not isinstance(config, dict) or not isinstance(config.get("format"), int):
            raise damaged(self.directory, ValueError("it says nothing of how it was started"))
        if config["format"] > FORMAT:
            raise Misuse(
                f"{self.directory}: format {config['format']} was written by a newer version; "
                f"this one reads {FORMAT}. Update forge-chaos, or start the run anew."
            )
        self.config = config
        self._kept = Kept(self._base, keep_traces(config.get("keep_traces", KEEP)))

    @property
    def scorecard(self) -> dict[str, Any] | None:
        """What `finish` was given; None while the run is not complete."""
        found: dict[str, Any] | None = self._get("scorecard")
        return found

    def plan(self, ids: Iterable[str]) -> None:
        """These trials are to be run, after those planned before; an id planned already keeps its place."""
        with self._writing():
            for place, id in enumerate(ids, self._next()):
                self._base.execute("INSERT OR IGNORE INTO trials VALUES (?, ?, NULL)", (id, place))
        self.commit()

    def add(self, trial: Trial, trace: Trace) -> None:
        """Keep a finished trial; an earlier one of the same id is replaced. A trial that was not planned
        comes last. Commits when `batch` trials wait, or when the last commit is a second old."""
        body = json.dumps(trialfile.to_json(trial), separators=(",", ":"), allow_nan=False)
        with self._writing():
            # Whole or not at all, whatever interrupts it: Ctrl-C between two statements too.
            self._base.execute("SAVEPOINT one")
            try:
                known = self._base.execute("UPDATE trials SET body = ? WHERE id = ?", (body, trial.id))
                if not known.rowcount:
                    self._base.execute("INSERT INTO trials VALUES (?, ?, ?)", (trial.id, self._next(), body))
                self._kept.add(trial, trace)
                if not self._waiting:
                    # A scorecard speaks for all trials: with one more it has to be made again.
                    self._base.execute("DELETE FROM run WHERE key = 'scorecard'")
            except BaseException:
                self._kept.forget()
                if self._base.in_transaction:
                    self._base.execute("ROLLBACK TO one")
                    self._base.execute("RELEASE one")
                raise
            self._base.execute("RELEASE one")
        self._waiting += 1
        if self._waiting >= self._batch or self._clock() - self._since >= PATIENCE:
            self.commit()

    def amend(self, trials: Iterable[Trial]) -> None:
        """Write finished trials anew: what was found out of them since. Their traces stay as they are."""
        with self._writing():
            for trial in trials:
                body = json.dumps(trialfile.to_json(trial), separators=(",", ":"), allow_nan=False)
                self._base.execute(
                    "UPDATE trials SET body = ? WHERE id = ? AND body IS NOT NULL", (body, trial.id)
                )
        self.commit()

    def commit(self) -> None:
        """What was added is on disk when this returns."""
        with self._plainly():
            if self._base.in_transaction:
                self._base.execute("COMMIT")
        self._waiting, self._since = 0, self._clock()

    def finish(self, scorecard: Mapping[str, Any]) -> None:
        """The run is complete. Adding another trial takes the scorecard away again."""
        with self._writing():
            self._put("scorecard", scorecard)
        self.commit()

    def done(self) -> set[str]:
        """The trials that need not be run again."""
        return {id for (id,) in self._rows("SELECT id FROM trials WHERE body IS NOT NULL")}

    def missing(self) -> tuple[str, ...]:
        """The trials that were planned and are not there, in planned order."""
        return tuple(id for (id,) in self._rows("SELECT id FROM trials WHERE body IS NULL ORDER BY position"))

    def trials(self) -> Iterator[Trial]:
        """All finished trials in planned order, read one at a time."""
        for (body,) in self._rows("SELECT body FROM trials WHERE body IS NOT NULL ORDER BY position"):
            yield self._trial(body)

    def trial(self, id: str) -> Trial:
        """One finished trial. Raises Misuse when it is not there."""
        for (body,) in self._rows("SELECT body FROM trials WHERE id = ? AND body IS NOT NULL", id):
            return self._trial(body)
        near = get_close_matches(id, self.done(), n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise Misuse(f"no trial {id!r} in {self.directory}.{hint} (forge-chaos report {self.directory})")

    def trace(self, id: str) -> Trace:
        """The trace of a finished trial. Raises Misuse when the trial is not there or its trace was not kept."""
        try:
            with self._plainly():
                text = self._kept.text(id)
        except (zlib.error, ValueError) as error:
            raise damaged(self.directory, error) from None
        if text is not None:
            return tracefile.loads(text, f"{self.directory}:{id}")
        replay = self.trial(id).replay or f"forge-chaos replay {self.directory}:{id}"
        raise Misuse(
            f"the trace of {id} in {self.directory} was not kept "
            f"(--keep-traces {self.config.get('keep_traces', KEEP)}). Make it again: {replay}"
        )

    def close(self) -> None:
        """Commit and let go of the directory."""
        try:
            self.commit()
        finally:
            self._base.close()
            if self._seat is not None:
                os.close(self._seat)
                self._seat = None

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _trial(self, body: str) -> Trial:
        try:
            return trialfile.from_json(Trial, json.loads(body))
        except ValueError as error:
            raise damaged(self.directory, error) from None

    def _next(self) -> int:
        (last,) = self._base.execute("SELECT max(position) FROM trials").fetchone()
        return 0 if last is None else int(last) + 1

    def _put(self, key: str, value: Mapping[str, Any]) -> None:
        text = json.dumps(dict(value), allow_nan=False)
        self._base.execute("INSERT OR REPLACE INTO run VALUES (?, ?)", (key, text))

    def _get(self, key: str) -> Any:
        for (text,) in self._rows("SELECT value FROM run WHERE key = ?", key):
            try:
                return json.loads(text)
            except ValueError as error:
                raise damaged(self.directory, error) from None
        return None

    def _rows(self, query: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        with self._plainly():
            yield from self._base.execute(query, values)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Within the open batch, which is begun when there is none."""
        self._claim()
        with self._plainly():
            if not self._base.in_transaction:
                self._base.execute("BEGIN IMMEDIATE")
            yield

    @contextmanager
    def _plainly(self) -> Iterator[None]:
        """SQLite's errors become ours; the open batch is given up, committed trials stay."""
        try:
            yield
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                if self._base.in_transaction:
                    self._base.execute("ROLLBACK")
            self._waiting = 0
            self._kept.forget()
            raise meaning(self.directory, error) from None

    def _claim(self) -> None:
        """Take the writer's seat: a lock on the directory, which ends with this process."""
        if self._seat is not None:
            return
        seat = os.open(self.directory, os.O_RDONLY)
        try:
            fcntl.flock(seat, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(seat)
            raise Misuse(
                f"{self.directory}: another process is writing this run. Wait for it, or start a new run."
            ) from None
        except OSError:
            pass  # a file system without locks: SQLite's own still lets one write at a time
        self._seat = seat


__all__ = ["FILE", "FORMAT", "Store", "compatible", "next_directory"]
