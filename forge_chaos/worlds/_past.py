"""What was started past the gate: programs that no shim has announced.

An absolute path, a program that sets a PATH of its own: nothing asks then. Two looks find such a thing. The agent's
processes are looked at every few milliseconds, which misses what is over sooner; and the text of the scripts that
its shells run is read for paths of programs, which names what may never have run. A shell's builtins (`echo`,
`test`, a redirection) are no programs, and nothing sees them.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

EVERY = 0.004  # seconds between two looks
LONGEST = 200_000  # bytes of a script that is read
NAMED = re.compile(r"(?<![\w./~$}-])/(?:[\w.+-]+/)+[\w.+-]+")

COMMENT = re.compile(r"(?:^|\s)#")


class Past:
    """The watch of one trial. `announced` are the numbers of processes that have asked."""

    def __init__(self, root: str, shims: str, real: Mapping[str, str], shells: Collection[str]) -> None:
        self._root, self._shims = root, os.fsencode(shims)
        self._shells = {os.path.realpath(path) for name, path in real.items() if name in shells}
        self._programs = {os.path.realpath(path) for path in real.values()} - self._shells
        self.announced: set[int] = set()
        self._started: dict[int, str] = {}
        self._named: set[str] = set()
        self._read: set[tuple[str, ...]] = set()
        self._over = Event()

    @contextmanager
    def watching(self) -> Iterator[None]:
        thread = Thread(target=self._watch, daemon=True, name="forge-chaos-past")
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()

    def found(self) -> dict[str, Any]:
        """{"started": {program: how often}, "named": [programs]}, each as the script names it where it does; empty
        when there was nothing."""
        said = {os.path.realpath(program): program for program in sorted(self._named)}
        ran = (program for number, program in self._started.items() if number not in self.announced)
        started = Counter(said.get(program, program) for program in ran)
        named = sorted(set(said.values()) - set(started))
        return {"started": dict(sorted(started.items())), "named": named} if started or named else {}

    def _watch(self) -> None:
        while not self._over.wait(EVERY):
            for child in children(os.getpid()):
                self._look(child, "", leader=True)

    def _look(self, number: int, above: str, leader: bool = False) -> None:
        """A process and all below it; `above` is what its parent runs."""
        with suppress(OSError):
            program = os.readlink(f"/proc/{number}/exe")
            words = Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")[:-1]
            if any(self._shims in word for word in words[:4]):
                return  # it is asking, and what it starts is asked for
            if leader or program in self._shells:
                self.scan(tuple(map(os.fsdecode, words)), os.readlink(f"/proc/{number}/cwd"))
            elif program != above and self._counts(program):  # a fork still runs what its parent runs
                self._started.setdefault(number, program)
            for child in children(number):
                self._look(child, program)

    def _counts(self, program: str) -> bool:
        """Is it a program of PATH or of the workspace? What a program has for itself elsewhere is its own affair."""
        return program in self._programs or program.startswith(self._root + "/")

    def scan(self, words: tuple[str, ...], folder: str) -> None:
        """Read what a command runs: the text behind `-c`, and the scripts that it names."""
        if words in self._read:
            return
        self._read.add(words)
        for before, word in zip(("", *words), words, strict=False):
            texts = [word] if re.fullmatch(r"-\w*c", before) else []
            with suppress(OSError, ValueError):
                place = Path(folder, word)
                if place.is_file() and place.stat().st_size <= LONGEST:
                    texts.append(place.read_bytes().decode())  # what is no text is no script
            for text in texts:
                self._named |= set(self._paths(text))

    def _paths(self, text: str) -> Iterator[str]:
        """Paths of programs that a script names outside its comments."""
        for line in text.splitlines():
            for found in NAMED.finditer(COMMENT.split(line, maxsplit=1)[0]):
                if os.path.realpath(found[0]) in self._programs and os.access(found[0], os.X_OK):
                    yield found[0]


def children(number: int) -> list[int]:
    """The processes that this one has started and that still live."""
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{number}/task"):
            with suppress(OSError):
                text = Path(f"/proc/{number}/task/{thread}/children").read_text()
                found += map(int, text.split())
    return found
