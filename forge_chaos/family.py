"""All processes that a process has started, and their end: an agent leaves none behind."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

ROUNDS = 100  # looks; a process that forks faster than we kill is left to its process group's end
PROC = Path("/proc")


def members(leader: int) -> set[int]:
    """`leader`, the living processes of the session that it leads, if it does, and its descendants in any session.

    Without /proc only the process group is known, and the answer is empty.
    """
    parents: dict[int, int] = {}
    found: set[int] = set()
    for pid in _numbers():
        try:
            # "pid (any name, even with brackets) state parent group session ..."
            stat = (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # gone between the two looks
        if stat[0] in "ZX":
            continue
        parents[pid] = int(stat[1])
        if leader in (pid, int(stat[3])):
            found.add(pid)
    for pid in parents:
        above, line = pid, {pid}
        while (above := parents.get(above, 0)) and above not in line:
            line.add(above)
            if above == leader:
                found.add(pid)
    return found


def _numbers() -> list[int]:
    try:
        return [int(name) for name in os.listdir(PROC) if name.isdigit()]
    except OSError:
        return []


def kill(leader: int) -> None:
    """End `leader`, which must not have been reaped yet, with its session or its process group and all that
    it has started, and wait until they are gone."""
    for _ in range(ROUNDS):
        # Halted first: killing a parent would hide what it has started in sessions of their own.
        halted: set[int] = set()
        while new := members(leader) - halted:
            _send(new, signal.SIGSTOP)
            halted |= new
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
        _send(halted, signal.SIGKILL)
        if not halted:
            return
        time.sleep(0.002)


def _send(pids: set[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
