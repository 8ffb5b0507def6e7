from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event, Timer
from time import monotonic, sleep

import pytest

from forge_chaos.worlds._process import OUTPUT_CAP, Ended, Groups, marked


@pytest.fixture
def groups() -> Iterator[Groups]:
    with closing(Groups()) as made:
        yield made


def sh(
    groups: Groups, folder: Path, command: str, seconds: float = 10, cancelled: Event | None = None
) -> Ended:
    return groups.run(["/bin/sh", "-c", command], folder, {"PATH": os.environ["PATH"]}, seconds, cancelled)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_exit_and_output_in_order(groups: Groups, tmp_path: Path) -> None:
    ended = sh(groups, tmp_path, "echo out; echo err >&2; echo again; exit 3")
    assert ended == Ended(3, "out\nerr\nagain\n")
    assert sh(groups, tmp_path, "kill -9 $$").exit == -9


def test_its_folder_and_its_environment_are_what_was_given(groups: Groups, tmp_path: Path) -> None:
    assert sh(groups, tmp_path, "pwd").output == f"{tmp_path}\n"
    assert "FORGE" not in sh(groups, tmp_path, "env").output
    with pytest.raises(FileNotFoundError):
        groups.run(["no-such-program"], tmp_path, {"PATH": "/bin"}, 1)


def test_stdin_is_closed(groups: Groups, tmp_path: Path) -> None:
    assert sh(groups, tmp_path, "read line; echo got:$line; cat").output == "got:\n"


def test_the_time_limit_kills_the_whole_group_and_keeps_what_was_printed(
    groups: Groups, tmp_path: Path
) -> None:
    start = monotonic()
    ended = sh(groups, tmp_path, "echo $$; (sleep 60; echo late) & echo $!; sleep 60", 0.3)
    assert monotonic() - start < 3
    assert ended.exit is None
    shell, child = (int(line) for line in ended.output.split())
    assert not alive(shell)
    groups.close()
    assert not alive(child)
    assert groups.members() == []


def test_a_program_that_closes_its_output_is_still_waited_for(groups: Groups, tmp_path: Path) -> None:
    ended = sh(groups, tmp_path, "echo x; exec >&- 2>&-; sleep 0.2; exit 7")
    assert ended == Ended(7, "x\n")
    assert sh(groups, tmp_path, "exec >&- 2>&-; sleep 60", 0.2).exit is None


def test_a_child_left_in_the_background_is_not_waited_for_but_found_and_killed(
    groups: Groups, tmp_path: Path
) -> None:
    start = monotonic()
    ended = sh(groups, tmp_path, "sleep 60 & echo $!")
    assert monotonic() - start < 3
    assert ended.exit == 0
    pid = int(ended.output)
    assert groups.members() == [pid]
    groups.close()
    assert not alive(pid)
    assert groups.members() == []


def test_cancelling_kills(groups: Groups, tmp_path: Path) -> None:
    cancelled = Event()
    timer = Timer(0.1, cancelled.set)
    timer.start()
    start = monotonic()
    assert sh(groups, tmp_path, "sleep 60", cancelled=cancelled).exit is None
    assert monotonic() - start < 3
    timer.join()
    assert groups.members() == []


def test_output_is_capped_marked_and_read_to_the_end(groups: Groups, tmp_path: Path) -> None:
    write = "import sys; sys.stdout.write('x' * 3_000_000); sys.stdout.flush(); open('done', 'w')"
    ended = groups.run([sys.executable, "-c", write], tmp_path, {}, 20)
    assert ended.exit == 0
    assert (tmp_path / "done").exists()
    assert ended.output == "x" * OUTPUT_CAP + f"\n[cut: {3_000_000 - OUTPUT_CAP} bytes more were printed]\n"


def test_bytes_that_are_no_text_are_replaced(groups: Groups, tmp_path: Path) -> None:
    assert sh(groups, tmp_path, r"printf '\377ok'").output == "\ufffdok"


def test_endless_output_ends_at_the_limit(groups: Groups, tmp_path: Path) -> None:
    start = monotonic()
    ended = sh(groups, tmp_path, "yes", 0.3)
    assert monotonic() - start < 3
    assert ended.exit is None
    assert len(ended.output) < OUTPUT_CAP + 100


def test_a_daemon_that_left_its_group_is_found_by_its_mark_and_killed(tmp_path: Path) -> None:
    groups = Groups(f"HOME={tmp_path}")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    daemon = f"{sys.executable} -c 'import os, time; os.setsid(); time.sleep(30)' >/dev/null 2>&1 & echo $!"
    ended = groups.run(["/bin/sh", "-c", daemon], tmp_path, environment, 10)
    pid = int(ended.output)
    try:
        for _ in range(500):  # at most 10 s
            if os.getpgid(pid) == pid:
                break
            sleep(0.02)
        assert os.getpgid(pid) == pid
        assert groups.members() == [pid]
        groups.close()
        assert not alive(pid)
    finally:
        groups.close()


def test_without_a_mark_and_for_the_mark_of_another_nobody_is_found(tmp_path: Path) -> None:
    assert marked(f"HOME={tmp_path}/nowhere") == []
    assert Groups().members() == []
