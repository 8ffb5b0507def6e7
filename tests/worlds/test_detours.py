from __future__ import annotations

import asyncio
import multiprocessing
import os
import platform
import pty
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from forge_chaos.errors import Misuse
from forge_chaos.worlds._detours import Detour, trusted
from forge_chaos.worlds._fake import FakeWorkspace

# Held since before the trial, where no patch finds them.
HELD: dict[str, Callable[..., Any]] = {
    "open": open, "os.open": os.open, "mkdir": os.mkdir, "remove": os.remove, "listdir": os.listdir,
    "chdir": os.chdir,
}  # fmt: skip


@pytest.fixture
def fake() -> Iterator[FakeWorkspace]:
    made = FakeWorkspace({"a": b"one"})
    yield made
    with suppress(Misuse):
        made.close()


async def program() -> object:
    return await asyncio.create_subprocess_exec("true")


PROCESSES: dict[str, Callable[[], object]] = {
    "subprocess": lambda: subprocess.run(["true"], check=True),
    "subprocess shell": lambda: subprocess.check_output("true", shell=True),
    "os.system": lambda: os.system("true"),
    "os.popen": lambda: os.popen("true"),
    "os.fork": lambda: os.fork() or os._exit(0),
    "os.posix_spawn": lambda: os.posix_spawn("/bin/true", ["true"], {}),
    "os.spawnv": lambda: os.spawnv(os.P_WAIT, "/bin/true", ["true"]),
    "pty.fork": pty.fork,
    "multiprocessing fork": lambda: multiprocessing.get_context("fork").Process(target=print).start(),
    "asyncio": lambda: asyncio.run(program()),
}


@pytest.mark.parametrize("how", PROCESSES)
def test_a_process_is_refused_however_it_is_started(how: str, fake: FakeWorkspace) -> None:
    with pytest.raises(Detour, match=r'^starting a process \(.*\) is refused\. .*use workspace = "disk"'):
        PROCESSES[how]()
    with pytest.raises(Misuse, match=r'starting a process .*use workspace = "disk"'):
        fake.close()


def test_a_database_of_sqlite_is_refused_but_in_memory(fake: FakeWorkspace) -> None:
    with pytest.raises(Detour, match=r"SQLite's own file 'data\.db' is refused"):
        sqlite3.connect("data.db")
    sqlite3.connect(":memory:").close()
    assert not Path("data.db").exists()


def test_functions_held_since_before_the_trial_are_no_way_round(tmp_path: Path, fake: FakeWorkspace) -> None:
    real = str(tmp_path / "real")
    for attempt in (
        partial(HELD["open"], real, "w"),
        partial(HELD["open"], "a"),
        partial(HELD["os.open"], real, os.O_CREAT | os.O_WRONLY),
        partial(HELD["open"], f"{fake.root}/a"),
        partial(HELD["mkdir"], real),
        partial(HELD["remove"], real),
        partial(HELD["listdir"], "."),
        partial(HELD["listdir"]),
        partial(HELD["chdir"], "/"),
    ):
        with pytest.raises(Detour, match=r'real .* is refused\. .*use workspace = "disk"'):
            attempt()
    with pytest.raises(Misuse, match=r"for writing \(and 8 more\)"):
        fake.close()
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_way_round_is_let(fake: FakeWorkspace) -> None:
    HELD["open"](os.devnull, "w").close()
    HELD["open"](os.__file__).close()
    platform.uname()
    with trusted():
        assert HELD["listdir"]("/")
    try:
        raise ValueError
    except ValueError:
        assert "raise ValueError" in traceback.format_exc()
    fake.close()


def test_afterwards_everything_is_let(tmp_path: Path) -> None:
    FakeWorkspace({}).close()
    HELD["open"](tmp_path / "real", "w").close()
    assert subprocess.run([sys.executable, "-c", ""], check=False).returncode == 0
    assert (tmp_path / "real").exists()
