from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from forge_chaos.worlds._disk import DiskWorkspace, _open_up


@pytest.fixture
def disk() -> Iterator[DiskWorkspace]:
    with closing(DiskWorkspace({"a": b"one\n", "d/x": b"two\n"})) as made:
        yield made


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_text("secret")
    return folder


def test_it_is_a_real_folder_and_goes_when_closed(disk: DiskWorkspace) -> None:
    assert (disk.root / "d" / "x").read_bytes() == b"two\n"
    disk.write("n/new", b"x")
    assert (disk.root / "n" / "new").read_bytes() == b"x"
    disk.close()
    assert not disk.root.exists()
    assert not disk.root.parent.exists()


def test_a_given_root_stays(tmp_path: Path) -> None:
    root = tmp_path / "mine"
    root.mkdir()
    (root / "there").write_text("before")
    disk = DiskWorkspace({"a": b"1"}, root)
    disk.write("b", b"2")
    assert disk.diff() == {"b": "created"}, "what was there, and what we put there, is where it starts"
    disk.check("echo x > c", 5)
    disk.close()
    assert sorted(path.name for path in root.iterdir()) == ["a", "b", "c", "there"]


def test_an_absolute_path_inside_is_made_relative(disk: DiskWorkspace) -> None:
    assert disk.read(str(disk.root / "d" / "x")) == b"two\n"
    assert disk.normal(f"{disk.root}/d/../a") == "a"
    assert disk.normal(str(disk.root)) == "."
    for path in (f"{disk.root}/../x", f"{disk.root}x", "/etc/passwd"):
        with pytest.raises(PermissionError):
            disk.read(path)


def test_links_do_not_lead_out(disk: DiskWorkspace, outside: Path) -> None:
    (disk.root / "file").symlink_to(outside / "secret")
    (disk.root / "folder").symlink_to(outside)
    (disk.root / "d" / "up").symlink_to("../..")
    (disk.root / "new").symlink_to(outside / "not there yet")
    attempts: list[Callable[[], object]] = [
        lambda: disk.read("file"),
        lambda: disk.write("file", b"x"),
        lambda: disk.append("file", b"x"),
        lambda: disk.write("new", b"x"),
        lambda: disk.read("folder/secret"),
        lambda: disk.write("folder/made", b"x"),
        lambda: disk.write("folder/deep/made", b"x"),
        lambda: disk.delete("folder/secret"),
        lambda: disk.entries("folder"),
        lambda: disk.stat("folder/secret"),
        lambda: disk.move("a", "folder/a"),
        lambda: disk.move("folder/secret", "taken"),
        lambda: disk.hide("folder/secret"),
        lambda: disk.cover("folder/secret"),
        lambda: disk.entries("d/up"),
        lambda: disk.read("d/up/anything"),
    ]
    for attempt in attempts:
        with pytest.raises(PermissionError):
            attempt()
    assert [path.name for path in outside.iterdir()] == ["secret"]
    assert (outside / "secret").read_text() == "secret"


def test_a_link_that_leads_out_is_shown_as_one_and_can_be_deleted(disk: DiskWorkspace, outside: Path) -> None:
    (disk.root / "file").symlink_to(outside / "secret")
    (disk.root / "folder").symlink_to(outside)
    assert disk.entries() == ["a", "d/", "file", "folder"]
    assert disk.snapshot()["file"] == f"[link to {outside}/secret]".encode()
    assert disk.diff() == {"file": "created", "folder": "created"}
    disk.delete("folder")
    disk.delete("file")
    assert disk.diff() == {}
    assert (outside / "secret").exists()


def test_links_inside_work(disk: DiskWorkspace) -> None:
    (disk.root / "file").symlink_to("d/x")
    (disk.root / "folder").symlink_to("d")
    (disk.root / "loop").symlink_to("loop")
    (disk.root / "d" / "back").symlink_to("..")
    assert disk.read("file") == disk.read("folder/x") == b"two\n"
    assert "folder/" in disk.entries()
    assert disk.snapshot()["file"] == b"two\n"
    assert disk.paths() == ["a", "d/back", "d/x", "file", "folder", "loop"]
    with pytest.raises(OSError, match="'loop'"):
        disk.read("loop")


def test_a_pipe_does_not_hang_us(disk: DiskWorkspace) -> None:
    os.mkfifo(disk.root / "pipe")
    for attempt in (
        lambda: disk.read("pipe"),
        lambda: disk.write("pipe", b"x"),
        lambda: disk.append("pipe", b"x"),
    ):
        with pytest.raises(OSError, match="Invalid argument: 'pipe'"):
            attempt()
    assert disk.stat("pipe")["kind"] == "special"
    assert disk.snapshot()["pipe"] == b"[no regular file]"
    assert disk.touched() == ("pipe",)


def test_touched_sees_what_others_than_our_tools_change(disk: DiskWorkspace) -> None:
    (disk.root / "a").write_text("changed")
    (disk.root / "d" / "x").unlink()
    (disk.root / "n").write_bytes(b"0" * 100_000)
    assert disk.touched() == ("a", "d/x", "n")
    (disk.root / "n").write_bytes(b"1" * 100_001)
    assert disk.touched() == ("n",)
    assert disk.touched() == ()


def test_another_hand_on_disk_takes_the_blame_for_its_own_paths_only(disk: DiskWorkspace) -> None:
    (disk.root / "a").write_text("the agent")
    with disk.other_hand():
        disk.write("d/x", b"not the agent")
    disk.hide("d")
    assert disk.touched() == ("a",)


def test_errors_from_below_name_the_relative_path(
    disk: DiskWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", str(disk.root / "a"))

    monkeypatch.setattr(os, "makedirs", full)
    with pytest.raises(OSError, match=r"^\[Errno 28\] No space left on device: 'd/x'$"):
        disk.write("d/x", b"y")


def test_a_folder_made_unreadable_is_still_removed(disk: DiskWorkspace) -> None:
    (disk.root / "d").chmod(0)
    if os.geteuid() == 0:  # whom no rights stop: what the others need is looked at by itself
        _open_up(disk.root)
        assert (disk.root / "d").stat().st_mode & 0o777 == 0o700
    disk.close()
    assert not disk.root.exists()


def test_hidden_files_are_gone_for_commands_too(disk: DiskWorkspace) -> None:
    disk.hide("a")
    assert disk.check("cat a; ls ..", 5)["output"].startswith("cat: a: No such file")
    disk.cover("d/x")
    assert disk.check(["test", "-d", "d/x"], 5)["exit"] == 0


def test_setup_fills_the_folder_before_anything_counts() -> None:
    with closing(DiskWorkspace({"a": b"1"}, setup=lambda root: (root / "b").write_text("2"))) as disk:
        assert disk.snapshot() == {"a": b"1", "b": b"2"}
        assert disk.diff() == {}
        assert disk.touched() == ()


def test_a_setup_that_fails_leaves_nothing_behind() -> None:
    roots: list[Path] = []

    def setup(root: Path) -> None:
        roots.append(root)
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        DiskWorkspace({}, setup=setup)
    assert not roots[0].exists()


def test_the_folder_carries_our_process_number_so_that_it_can_be_put_away_after_a_kill(
    disk: DiskWorkspace,
) -> None:
    assert disk.root.parent.name.startswith(f"forge-chaos-{os.getpid()}-")


def test_a_cd_lasts_for_the_commands_that_follow(disk: DiskWorkspace) -> None:
    assert disk.run("cd d && pwd", 5).output == "d\n"
    assert disk.run("pwd; cat x", 5).output == "d\ntwo\n"
    assert disk.run("cd ..", 5).exit == 0
    assert disk.run("pwd", 5).output == ".\n"


def test_the_exit_code_is_the_commands_own(disk: DiskWorkspace) -> None:
    assert [disk.run(command, 5).exit for command in ("cd d; exit 3", "false", "nothing-like-it", "((")] == [
        3,
        1,
        127,
        2,
    ]
    assert disk.run("pwd", 5).output == "d\n"


def test_a_shell_that_left_the_workspace_or_lost_its_folder_is_back_in_the_root(disk: DiskWorkspace) -> None:
    for command in ("cd /", "mkdir gone && cd gone && rmdir ../gone"):
        disk.run(command, 5)
        assert disk.run("pwd", 5).output == ".\n"


def test_a_command_that_is_killed_leaves_the_shell_where_it_was(disk: DiskWorkspace) -> None:
    disk.run("cd d", 5)
    assert disk.run("cd /; sleep 5", 0.2).exit is None
    assert disk.run("pwd", 5).output == "d\n"


def test_leave_puts_the_shell_back_into_the_root(disk: DiskWorkspace) -> None:
    assert disk.leave() is False
    disk.run("cd d", 5)
    assert (disk.leave(), disk.leave()) == (True, False)
    assert disk.run("pwd", 5).output == ".\n"
