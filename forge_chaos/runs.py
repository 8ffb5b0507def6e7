"""Runs as a user sees them: where a new one goes, and whether an old one may be gone on with."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from forge_chaos.errors import Misuse
from forge_chaos.runfile import unwritable

FREE = ("options", "format", "keep_traces")


def compatible(config: Mapping[str, Any], now: Mapping[str, Any], where: str = "the run") -> None:
    """May a run of `config` be gone on with by `now`? All but `options`, `format` and `keep_traces` must
    be equal: agent, versions, scenario hashes, seed ... Raises Misuse that names each difference."""
    was, new = ({k: v for k, v in c.items() if k not in FREE} for c in (config, now))
    # Through JSON and back, as the stored side went.
    found = _differences("", was, json.loads(json.dumps(new)))
    if found:
        raise Misuse(
            f"{where} cannot be gone on with: {'; '.join(found)}. "
            f"Go back to what it was started with, or start a new run."
        )


def _differences(name: str, was: Any, now: Any) -> list[str]:
    if isinstance(was, dict) and isinstance(now, dict):
        found: list[str] = []
        for key in sorted(was.keys() | now.keys()):
            found += _differences(f"{name}.{key}" if name else key, was.get(key), now.get(key))
        return found
    return [] if was == now else [f"{name} was {_shown(was)}, is {_shown(now)}"]


def _shown(value: Any) -> str:
    return "not there" if value is None else str(value)


def slug(label: str) -> str:
    """A label as a part of a directory's name."""
    return re.sub(r"[^a-z0-9]+", "-", label.lower())[:40].strip("-") or "run"


def next_directory(base: str | Path, label: str) -> Path:
    """A new directory `NNNN-<label>` under `base` with the next free number, made.

    Two processes never get the same number. Raises Misuse when nothing can be made there.
    """
    base = Path(base)
    try:
        base.mkdir(parents=True, exist_ok=True)
        seat = os.open(base, os.O_RDONLY)
        try:
            with suppress(OSError):  # a file system without locks: a name made twice still fails below
                fcntl.flock(seat, fcntl.LOCK_EX)
            taken = [int(found[1]) for name in os.listdir(base) if (found := re.match(r"([0-9]{4,})-", name))]
            directory = base / f"{max(taken, default=0) + 1:04}-{slug(label)}"
            directory.mkdir()
            return directory
        finally:
            os.close(seat)
    except OSError as error:
        raise unwritable(base, error) from None
