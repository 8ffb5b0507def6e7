"""What is started past the gate is seen while it runs, or found by its path in a script's text."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from forge_chaos.worlds._past import Past, children
from forge_chaos.worlds._shims import SHELLS, programs

REAL = programs(os.defpath)


def past(root: Path) -> Past:
    return Past(str(root), "/no such folder", REAL, SHELLS)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("/bin/cat a | /usr/bin/env x\n", ["/bin/cat", "/usr/bin/env"]),
        ("#!/bin/sh\nls # /bin/cat\n", []),
        ("exec /bin/sh -c ls", []),
        ("cat /etc/passwd /bin/no-such-program > out/bin/cat", []),
        ("x=$HOME/bin/cat; ./usr/bin/cat; ~/bin/cat", []),
    ],
)
def test_programs_that_a_script_names(tmp_path: Path, text: str, named: list[str]) -> None:
    (tmp_path / "run.sh").write_text(text)
    for words in (("/bin/sh", "run.sh"), ("/bin/sh", "-ec", text)):
        watch = past(tmp_path)
        watch.scan(words, str(tmp_path))
        assert watch.found().get("named", []) == named


def test_what_is_no_text_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(b"\xff\xfe /bin/cat a")
    watch = past(tmp_path)
    watch.scan(("./run", "no such file", "\0"), str(tmp_path))
    assert watch.found() == {}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="it looks into /proc")
def test_a_program_that_runs_is_seen_unless_it_has_asked(tmp_path: Path) -> None:
    watch = past(tmp_path)
    with watch.watching():
        script = "eval $P 1; P=$P; echo"  # its path stands in no text
        with subprocess.Popen(
            ["/bin/sh", "-c", script], env={"P": "/bin/sleep"}, stdout=subprocess.DEVNULL
        ) as run:
            assert run.pid in children(os.getpid())
            run.wait(60)
    assert list(watch.found()["started"].values()) == [1]
    (seen,) = watch._started
    watch.announced.add(seen)
    assert watch.found() == {}
