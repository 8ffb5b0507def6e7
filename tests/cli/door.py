"""The command line as its tests use it: in this process, or as a program of its own."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forge_chaos.cli import main

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def last(self) -> str:
        """The last line of stdout."""
        return self.out.rstrip("\n").rpartition("\n")[2]

    @property
    def result(self) -> dict[str, Any]:
        """Stdout, which must be one JSON object."""
        found: dict[str, Any] = json.loads(self.out)
        return found


def door(folder: Path, *words: str) -> Done:
    """The command in this process, in that folder."""
    out, err = io.StringIO(), io.StringIO()
    code: Any = 0
    with chdir(folder), redirect_stdout(out), redirect_stderr(err):
        try:
            main(list(words))
        except SystemExit as leave:
            code = leave.code
    return Done(code, out.getvalue(), err.getvalue())


def started(folder: Path, *words: str, **options: Any) -> subprocess.Popen[str]:
    """The command as a program of its own, just started."""
    return subprocess.Popen(
        [sys.executable, "-m", "forge_chaos", *words],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def program(folder: Path, *words: str) -> Done:
    """The command as a program of its own, to its end."""
    process = started(folder, *words)
    out, err = process.communicate(timeout=120)
    return Done(process.returncode, out, err)


def typed(folder: Path, line: str) -> Done:
    """A line that forge-chaos printed, typed into a shell."""
    name, *words = shlex.split(line)
    assert name == "forge-chaos", line
    return program(folder, *words)


def environment() -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name != "FORGE_CHAOS_MODEL"}
    return inherited | {"PYTHONPATH": str(ROOT)}


def write(folder: Path, files: dict[str, str]) -> Path:
    """The folder, with these files in it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
