"""The file of a run: opening it with SQLite, and what its errors mean for the user."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from forge_chaos.errors import Broken, ChaosError, Misuse

FILE = "run.sqlite"
SCHEMA = (
    "CREATE TABLE run (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE trials (id TEXT PRIMARY KEY, position INTEGER NOT NULL, body TEXT)",
    "CREATE INDEX planned ON trials (position)",
    "CREATE TABLE traces (id TEXT PRIMARY KEY, precious INTEGER NOT NULL, draw INTEGER NOT NULL, body BLOB NOT NULL)",
)
BUSY = 10.0  # seconds to wait for another process that is just committing


def connect(directory: Path) -> sqlite3.Connection:
    """A connection in autocommit mode. Where we may not write, the run is read as it stands.

    Raises Misuse when the file is damaged or out of reach.
    """
    file = directory / FILE
    writable = os.access(directory, os.W_OK, effective_ids=True) and os.access(
        file, os.W_OK, effective_ids=True
    )
    mode = "mode=rw"
    if not writable:
        # Without a log beside it nothing is outstanding, and SQLite needs no lock file to read.
        log = directory / f"{FILE}-wal"
        mode = "mode=ro" if log.exists() and log.stat().st_size else "mode=ro&immutable=1"
    base: sqlite3.Connection | None = None
    try:
        base = sqlite3.connect(
            f"{file.absolute().as_uri()}?{mode}", uri=True, isolation_level=None, timeout=BUSY
        )
        if writable:
            base.execute("PRAGMA journal_mode = WAL")
            # A commit survives the death of the process; only a loss of power may undo the last ones.
            base.execute("PRAGMA synchronous = NORMAL")
        base.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.Error as error:
        if base is not None:
            base.close()
        raise meaning(directory, error) from None
    return base


def meaning(directory: Path, error: sqlite3.Error) -> ChaosError:
    """What SQLite's error says to the user: Misuse for a file that cannot be used, Broken for a run that
    cannot be written any further."""
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or "no such table" in str(error):
        return damaged(directory, error)
    if name.startswith("SQLITE_READONLY"):
        return unwritable(directory, error)
    if name.startswith("SQLITE_CANTOPEN"):
        return Misuse(
            f"{directory / FILE} cannot be read here: {error}. "
            f"Copy the directory to a place that can be written, and name that."
        )
    return Broken(
        f"cannot write {directory / FILE}: {error}. What was committed is kept: "
        f"make room, then go on with --resume {directory}"
    )


def damaged(directory: Path, error: Exception) -> Misuse:
    return Misuse(
        f"{directory / FILE} is damaged: {error}. Start the run anew, or restore the file from a copy."
    )


def unwritable(directory: Path, error: Exception) -> Misuse:
    text = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    return Misuse(
        f"cannot write a run in {directory}: {text}. Name a place that can be written with --out DIR."
    )
