"""A child process as its parent holds it: two pipes for orders and reports, one for what it prints."""

from __future__ import annotations

import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import forge_chaos
from forge_chaos import family
from forge_chaos.errors import Broken
from forge_chaos.recorded import redactor

GRACE = 1.0  # real seconds for a child that was told to leave
GLANCE = 0.1  # real seconds between two looks at a child whose pipe somebody else holds open
CHUNK = 1 << 16  # bytes read at once
LAST = 1_000  # chunks read from a dead child at most: a daemon it left may print for ever
SHARED_MEMORY = "/dev/shm"  # where workspaces lie when it is there, else in the directory for temporary files
TAIL = 8_000  # bytes kept of what the agent printed
# -P and an argument instead of -m: the first import must be ours, whatever lies in the directory.
BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from forge_chaos.executors._worker import main; main(int(sys.argv[2]), int(sys.argv[3]))"
)


class Died(Exception):
    """The child is gone; the text says how."""


class Hung(Exception):
    """The child gave no sign of life, or too many; the text says which."""


class Process:
    """A running child in a session of its own. `kill` or `leave` ends it with all its processes."""

    def __init__(self) -> None:
        orders, self._orders = os.pipe()
        self._reports, reports = os.pipe()
        self._prints, prints = os.pipe()
        root = str(Path(forge_chaos.__file__).parent.parent)
        try:
            self._popen = subprocess.Popen(
                [sys.executable, "-P", "-c", BOOT, root, str(orders), str(reports)],
                stdin=subprocess.DEVNULL,
                stdout=prints,
                stderr=prints,
                pass_fds=(orders, reports),
                start_new_session=True,
                env=os.environ
                | {"PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0")},  # sets keep their order
            )
        except OSError as error:
            raise Broken(f"no child process can be started: {error}") from None
        finally:
            for fd in (orders, reports, prints):
                os.close(fd)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._reports, selectors.EVENT_READ)
        self._selector.register(self._prints, selectors.EVENT_READ)
        self._lines: deque[bytes] = deque()
        self._torn = b""
        self._printed = b""
        self._over = False  # no further report can come
        self._gone = False  # killed and reaped

    def alive(self) -> bool:
        """Still there to take an order. A child that died between two trials takes none with it."""
        return not self._over and not self._exited()

    def send(self, message: Mapping[str, Any]) -> None:
        """One line to the child. Raises Died."""
        data = (json.dumps(message) + "\n").encode()
        try:
            while data:
                data = data[os.write(self._orders, data) :]
        except BrokenPipeError:
            raise Died(self._how()) from None

    def receive(self, patience: float, why: str) -> tuple[dict[str, Any], int]:
        """The next report and its length. Raises Hung(why) after `patience` real seconds without one,
        Died when none can come any more."""
        until = time.monotonic() + patience
        while not self._lines:
            if self._over:
                raise Died(self._how())
            left = until - time.monotonic()
            if left <= 0:
                raise Hung(why)
            self._read(min(left, GLANCE))
            if not self._lines and self._exited():
                self._drain()  # a process of the agent's may hold the pipe open: no end would come
                self._over = True
        line = self._lines.popleft()
        return _report(line), len(line)

    def rest(self) -> Iterator[dict[str, Any]]:
        """The reports that a killed child had written before."""
        with suppress(Died):  # where it is no report any more, it ends
            while self._lines:
                yield _report(self._lines.popleft())

    def tail(self, head: str, lines: int = 40) -> str:
        """`head` and the last lines of what the child printed, secrets taken out."""
        text = redactor()(self._printed.decode(errors="replace")).strip()
        return "\n".join([head, *text.splitlines()[-lines:]])

    def leave(self) -> None:
        """Ask the child to go; after GRACE seconds it is killed."""
        self._close_orders()
        until = time.monotonic() + GRACE
        while not self._gone and not self._exited() and (left := until - time.monotonic()) > 0:
            if not self._read(min(left, GLANCE)):
                time.sleep(0.002)
        self.kill()

    def kill(self) -> None:
        """No process of the child's session is left when this returns."""
        if self._gone:
            return
        # The child is reaped last: until then nobody else can have its number.
        family.kill(self._popen.pid)
        self._popen.wait()
        self._gone = self._over = True
        _put_away(self._popen.pid)
        self._close_orders()
        self._drain()
        self._selector.close()
        os.close(self._reports)
        os.close(self._prints)

    def _read(self, patience: float) -> bool:
        """Take in what the child has written; False when that was nothing."""
        ready = self._selector.select(patience) if self._selector.get_map() else []
        for key, _ in ready:
            data = os.read(key.fd, CHUNK)
            if not data:
                self._selector.unregister(key.fd)
                self._over = self._over or key.fd == self._reports
            elif key.fd == self._prints:
                self._printed = (self._printed + data)[-TAIL:]
            else:
                *lines, self._torn = (self._torn + data).split(b"\n")
                self._lines.extend(lines)
        return bool(ready)

    def _drain(self) -> None:
        for _ in range(LAST):
            if not self._read(0):
                break

    def _exited(self) -> bool:
        """Has the child ended? It is not reaped by this."""
        if self._popen.returncode is not None:
            return True
        if not hasattr(os, "waitid"):
            return self._popen.poll() is not None
        return os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None

    def _how(self) -> str:
        """The child's own end, in words; it is gone after this."""
        until = time.monotonic() + GRACE
        while not self._exited():
            if time.monotonic() > until:
                self.kill()
                return "it closed its pipes"
            time.sleep(0.002)
        self.kill()
        code = self._popen.returncode
        if code >= 0:
            return f"exit code {code}"
        try:
            return f"signal {-code} ({signal.Signals(-code).name})"
        except ValueError:
            return f"signal {-code}"

    def _close_orders(self) -> None:
        if self._orders >= 0:
            os.close(self._orders)
            self._orders = -1


def _put_away(pid: int) -> None:
    """Remove the workspaces on disk that a killed process could not close: they carry its number."""
    for place in {SHARED_MEMORY, gettempdir()}:
        for left in Path(place).glob(f"forge-chaos-{pid}-*"):
            shutil.rmtree(left, ignore_errors=True)


def _report(line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
        record["kind"]
    except (ValueError, KeyError, TypeError):
        raise Died("it wrote to the pipe of its own worker") from None
    return dict(record)
