"""A command that is over after a while, one way or another, and leaves no process behind."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from tempfile import TemporaryFile
from threading import Event

from forge_chaos import family

GLANCE = 0.02  # seconds between two looks


@dataclass(frozen=True, slots=True)
class Ended:
    """How it ended: `code` is None where it was killed for being late."""

    code: int | None
    out: str
    err: str


def run(
    command: Sequence[str], seconds: float, stopped: Event, environment: Mapping[str, str] | None = None
) -> Ended:
    """The command's end, `seconds` after it began or last wrote to standard output at most.

    Raises KeyboardInterrupt once `stopped` is set.
    """
    with TemporaryFile() as out, TemporaryFile() as err:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
            env=None if environment is None else dict(environment),
        )
        try:
            on_time = _over(process.pid, out.fileno(), seconds, stopped)
        finally:
            family.kill(process.pid)  # not reaped until then, so that nobody else can have its number
            code = process.wait()
        out.seek(0)
        err.seek(0)
        told = [stream.read().decode(errors="replace") for stream in (out, err)]
    return Ended(code if on_time else None, *told)


def _over(pid: int, out: int, seconds: float, stopped: Event) -> bool:
    """Did it end by itself in time?"""
    size, until = 0, time.monotonic() + seconds
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if stopped.is_set():
            raise KeyboardInterrupt
        if (now := os.fstat(out).st_size) > size:
            size, until = now, time.monotonic() + seconds
        if time.monotonic() > until:
            return False
        time.sleep(GLANCE)
    return True
