"""Child processes of a world: own group, closed stdin, bounded output, killed with all their children.

Not a sandbox: a child can do whatever the user who runs the tests may do.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock
from time import monotonic, sleep

OUTPUT_CAP = 1_000_000
NOT_FOUND = 127
TIMED_OUT = 124  # as the timeout command of coreutils says it
_TICK = 0.02
_CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended: its exit code (negative: the signal), None when it was killed for its time or
    because nobody waits for it any more. `output` is stdout and stderr as they came."""

    exit: int | None
    output: str


@dataclass(slots=True)
class Groups:
    """The process groups that one workspace has started and that may still have members.

    `mark`, an entry of the environment that no other workspace has, finds those that have left their group,
    as daemons do; empty: nobody looks for them. `guest` is the same for what others start in the workspace,
    looked for once it is `expected`.
    """

    mark: str = ""
    guest: str = ""
    expected: bool = False
    _alive: set[int] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)
    _ran: bool = False

    def run(
        self,
        argv: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        seconds: float,
        cancelled: Event | None = None,
    ) -> Ended:
        """Run to its end, `seconds` of real time, or until `cancelled` is set; blocks.

        Done when the child itself is: one that it left in the background is not waited for, stays in
        `members`, and is killed by `close`. Raises OSError when the program cannot be started.
        """
        deadline = monotonic() + seconds
        child = subprocess.Popen(
            list(argv),
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
        with self._lock:
            self._alive.add(child.pid)
            self._ran = True
        assert child.stdout is not None  # a pipe was asked for
        output = _Output()
        try:
            exit = _follow(child, output, deadline, cancelled or Event())
            if exit is None:
                kill(child.pid)
                child.wait()
            _drain(child.stdout.fileno(), output)
        finally:
            child.stdout.close()
            if child.returncode is None:  # pragma: no cover - only when reading itself failed
                kill(child.pid)
                child.wait()
            with self._lock:
                if not exists(child.pid):
                    self._alive.discard(child.pid)
        return Ended(exit, output.text())

    def members(self) -> list[int]:
        """Pids that are alive in the groups started here, or that bear the mark."""
        with self._lock:
            self._alive = {group for group in self._alive if exists(group)}
            groups = set(self._alive)
        return sorted({*members(groups), *self._strays()})

    def _strays(self) -> list[int]:
        marks = [*([self.mark] if self._ran else []), *([self.guest] if self.expected else [])]
        return sorted({pid for mark in marks if mark for pid in marked(mark)})

    def close(self) -> None:
        """Kill whatever is left and wait until it is gone."""
        with self._lock:
            groups, self._alive = set(self._alive), set()
        for group in groups:
            kill(group)
        for stray in self._strays():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(stray, signal.SIGKILL)
        _until(lambda: not members(groups) and not self._strays(), 2.0)


class _Output:
    """The first megabyte of what a child printed; the rest is read and counted."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._lost = 0

    def add(self, data: bytes) -> None:
        room = OUTPUT_CAP - len(self._kept)
        self._kept += data[:room]
        self._lost += max(0, len(data) - room)

    def text(self) -> str:
        text = self._kept.decode(errors="replace")
        if not self._lost:
            return text
        return f"{text}\n[cut: {self._lost} bytes more were printed]\n"


def _follow(child: subprocess.Popen[bytes], output: _Output, deadline: float, cancelled: Event) -> int | None:
    """Read until the child has ended; None when its time is over or nobody waits any more."""
    assert child.stdout is not None  # a pipe was asked for
    pipe = child.stdout.fileno()
    os.set_blocking(pipe, False)
    is_open = True
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            exit = child.poll()
            if exit is not None:
                return exit
            left = deadline - monotonic()
            if left <= 0 or cancelled.is_set():
                return None
            wait = min(left, _TICK)
            if not is_open:
                with suppress(subprocess.TimeoutExpired):
                    child.wait(wait)
            elif selector.select(wait):
                data = os.read(pipe, _CHUNK)
                output.add(data)
                if not data:
                    is_open = False
                    selector.unregister(pipe)


def _drain(pipe: int, output: _Output) -> None:
    """What is in the pipe now; one that a background child still writes to would never end."""
    os.set_blocking(pipe, False)
    for _ in range(OUTPUT_CAP // _CHUNK + 1):
        try:
            data = os.read(pipe, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            return
        output.add(data)


def kill(group: int) -> None:
    """End a whole process group at once."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def members(groups: set[int]) -> list[int]:
    """The processes of these groups that have not ended; where there is no /proc, the groups' own ids."""
    if not groups:
        return []
    table = Path("/proc")
    if not (table / "self" / "stat").exists():
        return sorted(group for group in groups if exists(group))
    found: list[int] = []
    for entry in table.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            line = (entry / "stat").read_text(errors="replace")
        except OSError:  # it has ended meanwhile
            continue
        # "pid (name) state ppid pgrp ...", and the name may hold spaces and brackets.
        state, _, group = line.rpartition(")")[2].split()[:3]
        if int(group) in groups and state not in ("Z", "X"):
            found.append(int(entry.name))
    return sorted(found)


def marked(mark: str) -> list[int]:
    """The processes with this entry in the environment that they were started with; none without /proc."""
    entry, found = mark.encode(), []
    for place in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # another user's, or it has ended meanwhile
            if entry in place.read_bytes().split(b"\0"):
                found.append(int(place.parent.name))
    return sorted(found)


def _until(done: Callable[[], bool], seconds: float) -> None:
    deadline = monotonic() + seconds
    while not done() and monotonic() < deadline:
        sleep(_TICK / 4)
