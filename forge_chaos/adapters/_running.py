"""One run of a command that is an agent: what it prints is bounded, and it is ended with all that it started."""

from __future__ import annotations

import asyncio
import os
import selectors
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from forge_chaos import family

OUTPUT_CAP = 1_000_000  # bytes of standard output; whoever prints more is ended
TAIL = 8_000  # bytes kept of standard error
TICK = 0.02  # real seconds between two looks at whether it has ended
CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. `exit` is its code, the negative number of the signal, or None when it was ended
    by us; `errors` is the last of its standard error; `flooded`: it printed more than it may."""

    exit: int | None
    output: bytes
    errors: str
    flooded: bool = False

    def how(self) -> str:
        """The end in words."""
        if self.exit is None:
            return "ended by forge-chaos"
        if self.exit >= 0:
            return f"exit code {self.exit}"
        try:
            return f"signal {-self.exit} ({signal.Signals(-self.exit).name})"
        except ValueError:
            return f"signal {-self.exit}"


async def run(command: Sequence[str], folder: Path, environment: Mapping[str, str], told: bytes) -> Ended:
    """Run it to its end, `told` on its standard input. Cancelled, it is ended with its whole family first.

    What it leaves in the background when it ends by itself goes on: whether that does harm is to be seen.
    Raises OSError when it cannot be started.
    """
    cancelled = Event()
    work = asyncio.get_running_loop().run_in_executor(
        None, _run, command, folder, environment, told, cancelled
    )
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        cancelled.set()
        with suppress(OSError):
            await work
        raise


def _run(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], told: bytes, cancelled: Event
) -> Ended:
    child = subprocess.Popen(
        list(command),
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
    )
    pipes = _Pipes(child, told)
    try:
        exit = _followed(child, pipes, cancelled)
        pipes.drain()
    finally:
        if child.returncode is None:
            family.kill(child.pid)
            child.wait()
        pipes.close()
    return Ended(exit, bytes(pipes.output), pipes.errors.decode(errors="replace"), pipes.flooded)


def _followed(child: subprocess.Popen[bytes], pipes: _Pipes, cancelled: Event) -> int | None:
    """Its exit code; None as soon as nobody waits for it any more or it prints too much."""
    while True:
        exit = child.poll()
        if exit is not None:
            return exit
        if cancelled.is_set() or pipes.flooded:
            return None
        if not pipes.move(TICK):
            with suppress(subprocess.TimeoutExpired):
                child.wait(TICK)


class _Pipes:
    """The three pipes of a child, none of which blocks."""

    def __init__(self, child: subprocess.Popen[bytes], told: bytes) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        self._child, self._told = child, told
        self._in, self._out, self._err = child.stdin.fileno(), child.stdout.fileno(), child.stderr.fileno()
        self.output, self.errors, self.flooded = bytearray(), b"", False
        self._selector = selectors.DefaultSelector()
        for pipe, event in (
            (self._in, selectors.EVENT_WRITE),
            (self._out, selectors.EVENT_READ),
            (self._err, selectors.EVENT_READ),
        ):
            os.set_blocking(pipe, False)
            self._selector.register(pipe, event)

    def move(self, patience: float) -> bool:
        """Take what there is and hand on what fits. False when every pipe is closed."""
        if not self._selector.get_map():
            return False
        for key, _ in self._selector.select(patience):
            if key.fd == self._in:
                self._write()
            else:
                self._read(key.fd)
        return True

    def _write(self) -> None:
        try:
            self._told = self._told[os.write(self._in, self._told[:CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # it does not want to know
            self._told = b""
        if not self._told:
            self._selector.unregister(self._in)
            assert self._child.stdin is not None
            self._child.stdin.close()

    def _read(self, pipe: int) -> bool:
        """False when there is nothing to come, now or for ever."""
        try:
            data = os.read(pipe, CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self._selector.unregister(pipe)
            return False
        if pipe == self._err:
            self.errors = (self.errors + data)[-TAIL:]
            return True
        self.flooded = len(self.output) + len(data) > OUTPUT_CAP
        self.output += data[: OUTPUT_CAP - len(self.output)]
        return not self.flooded

    def drain(self) -> None:
        """What is in the pipes now; one that a process in the background still holds open would never end."""
        for pipe in (self._out, self._err):
            for _ in range(OUTPUT_CAP // CHUNK + 1):
                if pipe not in self._selector.get_map() or not self._read(pipe):
                    break

    def close(self) -> None:
        self._selector.close()
        for pipe in (self._child.stdin, self._child.stdout, self._child.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


__all__ = ["Ended", "run"]
