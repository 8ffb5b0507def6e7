from __future__ import annotations

import asyncio
import builtins
import errno
import glob
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from forge_chaos.errors import Misuse
from forge_chaos.worlds._bare import bare
from forge_chaos.worlds._detours import Detour
from forge_chaos.worlds._fake import FakeWorkspace
from tests.cli import users
from tests.cli.door import door, program, write
from tests.worlds.playing import scenario

FILES = {"a": b"one\n", "d/x": b"two\n"}
HERE = Path("d")  # as a user's module has it, from before the trial


@pytest.fixture
def fake() -> Iterator[FakeWorkspace]:
    with closing(FakeWorkspace(FILES)) as made:
        yield made


def doors() -> list[object]:
    """What Python code reaches files by."""
    modules = [sys.modules[name] for name in ("os", "io", "pathlib", "shutil")]
    inside = [pathlib.os, shutil.os, tempfile._os]  # type: ignore[attr-defined]  # their own imports
    return [builtins.open, *modules, *inside, Path, tempfile.tempdir, os.getcwd(), *sys.meta_path]


def test_code_of_the_users_own_works_in_it(fake: FakeWorkspace) -> None:
    assert os.getcwd() == fake.root
    with open("a") as file:
        assert file.read() == "one\n"
    assert (HERE / "x").read_text() == Path("d", "x").read_text() == "two\n"
    assert sorted(os.listdir(".")) == ["a", "d"]
    assert glob.glob("**/*", recursive=True) == ["a", "d", "d/x"]
    shutil.copytree("d", "copy")
    os.makedirs("deep/er")
    os.replace("a", "deep/er/a")
    with tempfile.NamedTemporaryFile("w", delete=False) as temporary:
        temporary.write("three")
    os.replace(temporary.name, "d/x")
    assert fake.touched() == ("a", "copy/x", "d/x", "deep/er/a")
    assert fake.touched() == ()
    assert fake.diff() == {"a": "deleted", "copy/x": "created", "d/x": "changed", "deep/er/a": "created"}
    assert fake.read("d/x") == b"three"
    assert fake.read(f"{fake.root}/copy/x") == b"two\n"


def test_what_threads_do_is_in_it_too(fake: FakeWorkspace) -> None:
    thread = threading.Thread(target=lambda: Path("from a thread").write_text("x"))
    thread.start()
    thread.join(10)
    assert fake.touched() == ("from a thread",)


def opened(path: str, mode: str = "r") -> None:
    with open(path, mode):
        pass


def failed(attempt: Callable[[], object]) -> tuple[int | None, Any]:
    with pytest.raises(OSError) as caught:  # noqa: PT011  # which one is what is asked
        attempt()
    return caught.value.errno, caught.value.filename


def test_its_errors_come_from_below(fake: FakeWorkspace) -> None:
    fake.hide("a")
    for look in (open, os.stat, lambda path: Path(path).read_text(), lambda path: shutil.copy(path, "b")):
        assert failed(lambda look=look: look("a")) == (errno.ENOENT, "a")  # type: ignore[misc]  # the point of the test is what it does at run time
    fake.show("a")
    fake.cover("a")
    assert failed(lambda: opened("a")) == (errno.EISDIR, "a")
    fake.show("a")
    assert failed(lambda: opened("a/b")) == (errno.ENOTDIR, "a/b")
    assert failed(lambda: os.listdir("a")) == (errno.ENOTDIR, "a")
    assert failed(lambda: os.rmdir("d")) == (errno.ENOTEMPTY, "d")
    assert failed(lambda: os.mkdir("d")) == (errno.EEXIST, "d")
    assert fake.touched() == ()


def test_rights_that_are_taken_away_are_missing_whoever_runs_it(fake: FakeWorkspace) -> None:
    os.chmod("a", 0)
    assert failed(lambda: opened("a")) == (errno.EACCES, "a")
    os.chmod("d", 0o500)
    assert failed(lambda: opened("d/new", "w"))[0] == errno.EACCES
    assert failed(lambda: opened("/new", "w"))[0] == errno.EACCES
    assert fake.snapshot() == FILES, "the world reads it all the same"
    fake.hide("d/x")
    assert fake.paths() == ["a"]


def test_a_full_disk_takes_no_byte_of_the_agents(fake: FakeWorkspace) -> None:
    fake.fill()
    assert shutil.disk_usage(".").free == 0

    def write(path: str, text: str) -> None:
        with open(path, "w") as file:
            file.write(text)

    assert failed(lambda: write("new", "x" * 100))[0] == errno.ENOSPC
    assert fake.read("new") == b"", "opened, then no room: as on a real one"
    os.remove("d/x")
    write("new", "four")
    assert failed(lambda: write("new", "fives"))[0] == errno.ENOSPC
    fake.drain()
    write("new", "x" * 100)
    with fake.no_room() as tried:
        assert not tried()
        os.remove("a")
        assert failed(lambda: write("b", "x"))[0] == errno.ENOSPC
        assert tried()
    write("b", "x")


def test_rights_can_be_taken_away_for_a_while(fake: FakeWorkspace) -> None:
    with fake.no_rights("d/x") as tried:
        assert Path("d/x").read_text() == "two\n"
        assert not tried()
        assert failed(lambda: opened("d/x", "a")) == (errno.EACCES, "d/x")
        assert tried()
        assert failed(lambda: os.remove("d/x"))[0] == errno.EACCES
        for ours in (
            lambda: fake.write("d/x", b"1"),
            lambda: fake.delete("d/x"),
            lambda: fake.write("d/n", b""),
        ):
            assert failed(ours)[0] == errno.EACCES
        with fake.other_hand():
            fake.write("d/x", b"two\n!")
    with fake.no_rights("not/there"):
        Path("a").write_text("may be written")
    Path("d/x").write_text("again")
    assert fake.touched() == ("a", "d/x")


def test_links_lead_where_they_lead_inside_and_nowhere_outside(fake: FakeWorkspace) -> None:
    os.symlink("d/x", "file")
    os.symlink("d", "folder")
    os.symlink("/etc", "out")
    os.symlink("loop", "loop")
    assert fake.read("file") == fake.read("folder/x") == b"two\n"
    assert fake.entries() == ["a", "d/", "file", "folder/", "loop", "out"]
    assert fake.snapshot()["out"] == b"[link to /etc]"
    for attempt in (lambda: fake.read("out/passwd"), lambda: fake.write("out/x", b"")):
        with pytest.raises(PermissionError):
            attempt()
    with pytest.raises(OSError, match="'loop'"):
        fake.read("loop")
    fake.write("folder/new", b"x")
    assert fake.read("d/new") == b"x"


def test_nothing_real_is_changed_and_nothing_stays_patched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whatever lies on the path of imports is a library, to be read only; other tests have put folders there.
    beside = str(tmp_path.parent)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if not place.startswith(beside)])
    (tmp_path / "real").write_text("real")
    before = doors()
    fake = FakeWorkspace(FILES)
    try:
        Path("left").write_text("x")
        os.makedirs(tmp_path / "made", exist_ok=True)
        (tmp_path / "real").write_text("fake")
        assert sys.modules["os"] is not before[1]
    finally:
        fake.close()
    fake.close()
    assert doors() == before
    assert [path.name for path in tmp_path.iterdir()] == ["real"]
    assert (tmp_path / "real").read_text() == "real"
    assert not Path("left").exists()


def test_one_trial_leaves_nothing_to_the_next() -> None:
    with closing(FakeWorkspace({})):
        Path("left").write_text("x")
        os.chdir("/")
        temporary = Path(tempfile.mkdtemp())
    with closing(FakeWorkspace({"only": b""})) as second:
        assert os.listdir(".") == second.paths() == ["only"]
        assert not os.path.exists(temporary)


def test_one_at_a_time() -> None:
    order: list[str] = []

    def another() -> None:
        with closing(FakeWorkspace({"b": b""})) as other:
            order.append(" ".join(other.paths()))

    with closing(FakeWorkspace({"a": b""})) as fake:
        with pytest.raises(Misuse, match=r'one at a time.*workspace = "disk"'):
            FakeWorkspace({})
        thread = threading.Thread(target=another)
        thread.start()
        thread.join(0.1)
        order.append(" ".join(fake.paths()))
    thread.join(10)
    assert order == ["a", "b"]


def test_a_beginning_that_cannot_be_is_misuse_and_patches_nothing() -> None:
    before = doors()
    for files in ({"../a": b""}, {"a": b"", "a/b": b""}):
        with pytest.raises(Misuse, match="cannot begin with"):
            FakeWorkspace(files)
    assert doors() == before


def test_a_process_is_refused_and_the_trial_is_no_trial() -> None:
    fake = FakeWorkspace({})
    with pytest.raises(Detour, match=r"starting a process \(ls -l\).*workspace = \"disk\""):
        subprocess.run(["ls", "-l"], check=False)
    with pytest.raises(Misuse, match=r"went round the file system: starting a process \(ls -l\)\. .*disk"):
        fake.close()
    assert subprocess.run([sys.executable, "-c", ""], check=False).returncode == 0


def test_a_trial_that_ends_otherwise_ends_as_that() -> None:
    fake = FakeWorkspace({})

    def trial() -> None:
        try:
            with pytest.raises(Detour):
                os.system("true")
            raise KeyboardInterrupt
        finally:
            fake.close()

    with pytest.raises(KeyboardInterrupt):
        trial()


def test_an_agent_with_its_own_tools_gets_it_as_its_world() -> None:
    made = scenario(files={"a": b"1"}, workspace="fake", setup=lambda folder: (folder / "b").write_text("2"))
    with closing(bare(made, asyncio.sleep)) as world:
        Path("a").write_text(Path("b").read_text() + "!")
        assert world.touched() == ("a",)
        assert world.resources() == {"a": "2!", "b": "2"}
        assert world.processes() == []
        done = world.check_command(["cat", "a"], 5)
        assert (done["exit"], done["output"]) == (0, "2!")
        assert Path("a").exists(), "after the command the files are the fake ones again"


KILLED = """
import os, sys
from pathlib import Path
from forge_chaos.worlds._fake import FakeWorkspace
fake = FakeWorkspace({"a": b""})
Path("made").write_text("x")
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
def test_killed_it_leaves_nothing_behind(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KILLED], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGKILL)
    assert list(tmp_path.iterdir()) == []
    assert not list(Path("/dev/shm").glob(f"forge-chaos-{process.pid}-*"))
    assert not Path("/forge-chaos").exists()


TASK = {
    "own/one/files/in.txt": "7",
    "own/one/scenario.toml": """
prompt = "Copy the number in in.txt to out.txt and tell it to me."
roles = ["read", "write"]
outputs = ["out.txt"]
[[full]]
grader = "file_equals"
path = "out.txt"
text = "7"
""",
}
RUN = ("run", "--scenarios-dir", "own", "--scenarios", "one", "--agent", "clerk.py:agent", "--json")


@pytest.mark.slow
def test_an_agents_own_tools_meet_the_faults_in_their_own_lines(tmp_path: Path) -> None:
    write(tmp_path, {"clerk.py": users.CLERK, **TASK})
    faults = ("missing_file.never", "disk_full.full", "blocked_command.permission_denied")
    done = door(tmp_path, *RUN, "--workspace", "fake", "--faults", ",".join(faults))
    found = done.result
    assert found["clean"] == {"passed": 1, "of": 1}
    assert [(row["planned"], row["fired"], row["outcomes"]) for row in found["classes"]] == [
        (2, 2, {"crashed": 2})
    ] * 3
    raised = {
        "missing_file": "FileNotFoundError",
        "disk_full": "OSError",
        "blocked_command": "PermissionError",
    }
    assert {failure["plan"].partition(".")[0] for failure in found["failures"]} == set(raised)
    for failure in found["failures"]:
        assert raised[failure["plan"].partition(".")[0]] in failure["why"]
        assert "(clerk.py:" in failure["why"], "its own line raised it"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name[0] != "_") == [
        "clerk.py", "own", "reports",
    ]  # fmt: skip
    again = program(tmp_path, *shlex.split(found["failures"][0]["replay"])[1:])
    assert (again.code, again.last) == (1, "The trace is equal to the stored one.")


@pytest.mark.slow
def test_an_agent_that_starts_processes_is_misuse_with_the_way_out(tmp_path: Path) -> None:
    runs = users.CLERK.replace(
        "return Path(file_path).read_text()",
        "import subprocess; return subprocess.check_output(['cat', file_path], text=True)",
    )
    toml = {"own/one/scenario.toml": 'workspace = "fake"\n' + TASK["own/one/scenario.toml"]}
    write(tmp_path, {"clerk.py": runs, **TASK, **toml})
    done = door(tmp_path, *RUN, "--faults", "timeout.raises")
    assert (done.code, done.out) == (4, "")
    assert "starting a process (cat in.txt)" in done.err
    assert 'use workspace = "disk" (--workspace disk)' in done.err
    disk = door(tmp_path, *RUN, "--faults", "missing_file.never", "--workspace", "disk")
    assert disk.result["clean"] == {"passed": 1, "of": 1}, "and that is a way out"
