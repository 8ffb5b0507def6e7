"""A command's run: told on standard input, bounded in what it prints, ended with all that it started."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from forge_chaos.adapters._running import OUTPUT_CAP, TAIL, Ended, run

pytestmark = pytest.mark.slow
LIMIT = 60.0


def ran(folder: Path, line: str, told: bytes = b"") -> Ended:
    async def main() -> Ended:
        async with asyncio.timeout(LIMIT):
            return await run(["/bin/sh", "-c", line], folder, dict(os.environ), told)

    return asyncio.run(main())


def gone(pid: int) -> bool:
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state in "ZX":
            return True
        time.sleep(0.01)
    return False


def test_it_is_told_and_standard_input_is_closed_behind(tmp_path: Path) -> None:
    told = b"x" * 300_000  # more than a pipe holds
    ended = ran(tmp_path, "wc -c; cat; pwd", told)
    size, where = ended.output.decode().split()
    assert (ended.exit, int(size), where) == (0, len(told), str(tmp_path))


def test_one_that_does_not_want_to_know_is_no_failure(tmp_path: Path) -> None:
    assert ran(tmp_path, "echo hi", b"x" * 300_000) == Ended(0, b"hi\n", "")


def test_how_it_ended_with_the_last_of_its_errors(tmp_path: Path) -> None:
    ended = ran(tmp_path, "seq 1 100000 >&2; echo no >&2; exit 3")
    assert ended.how() == "exit code 3"
    assert ended.errors.endswith("100000\nno\n")
    assert len(ended.errors) <= TAIL
    assert ran(tmp_path, "kill -9 $$").how() == "signal 9 (SIGKILL)"


def test_who_prints_too_much_is_ended(tmp_path: Path) -> None:
    ended = ran(tmp_path, "yes & yes")
    assert (ended.exit, ended.flooded, len(ended.output)) == (None, True, OUTPUT_CAP)


def test_one_byte_less_is_not_too_much(tmp_path: Path) -> None:
    ended = ran(tmp_path, f"head -c {OUTPUT_CAP} /dev/zero")
    assert (ended.exit, ended.flooded, len(ended.output)) == (0, False, OUTPUT_CAP)
    assert ran(tmp_path, f"head -c {OUTPUT_CAP + 1} /dev/zero").flooded


def test_a_child_that_holds_the_pipe_is_not_waited_for(tmp_path: Path) -> None:
    ended = ran(tmp_path, "sleep 300 & echo $!")
    assert ended.exit == 0
    pid = int(ended.output)
    os.kill(pid, 9)
    assert gone(pid)


def test_cancelled_it_is_ended_with_its_whole_family(tmp_path: Path) -> None:
    async def main() -> list[int]:
        line = "setsid sleep 300 & echo $! > one; sleep 300 & echo $! > two; sleep 300"
        task = asyncio.create_task(run(["/bin/sh", "-c", line], tmp_path, dict(os.environ), b""))
        async with asyncio.timeout(LIMIT):
            while not all((tmp_path / n).is_file() and (tmp_path / n).read_text() for n in ("one", "two")):
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        return [int((tmp_path / name).read_text()) for name in ("one", "two")]

    assert all(gone(pid) for pid in asyncio.run(main()))


def test_what_is_no_program_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "odd").write_text("")
    (tmp_path / "odd").chmod(0o755)
    with pytest.raises(OSError, match="Exec format error"):
        asyncio.run(run([str(tmp_path / "odd")], tmp_path, {}, b""))
