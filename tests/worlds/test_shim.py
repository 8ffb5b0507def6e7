"""The script behind every name: small, and it never waits for a trial that is over."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from forge_chaos.worlds import _shim

LIMIT = 60


def test_the_length_stands_in_front() -> None:
    assert _shim.packed(b"abc") == b"\0\0\0\3abc"


def linked(folder: Path) -> Path:
    script = folder / "shim"
    script.write_text(f"#!{sys.executable} -ISE\n{Path(_shim.__file__).read_text()}")
    script.chmod(0o755)
    (folder / "bin").mkdir()
    (folder / "bin" / "cat").symlink_to("../shim")
    return folder / "bin" / "cat"


@pytest.mark.slow
def test_where_nobody_answers_it_ends_at_once(tmp_path: Path) -> None:
    done = subprocess.run([linked(tmp_path)], capture_output=True, timeout=LIMIT, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (_shim.OVER, b"", b"")


@pytest.mark.slow
def test_it_loads_next_to_nothing(tmp_path: Path) -> None:
    """It is started for every program."""
    place = linked(tmp_path)
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-ISE", place],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "_socket" in loaded
    assert not loaded & {"json", "socket", "selectors", "enum", "subprocess", "site", "re", "pathlib"}
