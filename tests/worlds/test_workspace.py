"""All back-ends do the same, error for error."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge_chaos.worlds._disk import DiskWorkspace
from forge_chaos.worlds._fake import FakeWorkspace
from forge_chaos.worlds._memory import MemoryWorkspace

FILES = {"a": b"one\n", "d/x": b"two\n", "d/e/y": b"\xff\x00", "d/z": b""}
Workspace: TypeAlias = MemoryWorkspace | DiskWorkspace | FakeWorkspace
Step: TypeAlias = tuple[str, tuple[Any, ...]]


@pytest.fixture(params=[MemoryWorkspace, DiskWorkspace, FakeWorkspace])
def workspace(request: pytest.FixtureRequest) -> Iterator[Workspace]:
    with closing(request.param(FILES)) as made:
        yield made


def outcome(workspace: Workspace, name: str, args: tuple[Any, ...]) -> Any:
    try:
        if name == "another hand writes":
            with workspace.other_hand():
                return workspace.write(*args)
        return getattr(workspace, name)(*args)
    except (OSError, ValueError) as error:
        return (type(error), getattr(error, "errno", None), str(error))


paths = st.sampled_from(
    [
        "a",
        "b",
        "d",
        "d/x",
        "d/e",
        "d/e/y",
        "d/z",
        "n/m",
        "n",
        "a/b",
        "d/x/q",
        ".",
        "",
        "./d//e/../x",
        "..",
        "/a",
        "d/",
    ]
)
data = st.sampled_from([b"", b"one\n", b"two\n", b"new"])
steps = st.one_of(
    st.tuples(
        st.sampled_from(["read", "entries", "stat", "delete", "hide", "show", "cover"]), st.tuples(paths)
    ),
    st.tuples(st.sampled_from(["write", "append", "another hand writes"]), st.tuples(paths, data)),
    st.tuples(st.just("move"), st.tuples(paths, paths)),
)


@pytest.mark.parametrize("kind", [DiskWorkspace, FakeWorkspace])
@settings(max_examples=300, deadline=None)
@given(steps=st.lists(steps, max_size=12))
def test_memory_and_disk_agree(kind: type[DiskWorkspace | FakeWorkspace], steps: list[Step]) -> None:
    memory = MemoryWorkspace(FILES)
    with closing(kind(FILES)) as disk:
        for name, args in steps:
            assert outcome(memory, name, args) == outcome(disk, name, args), (name, args)
            assert memory.snapshot() == disk.snapshot(), (name, args)
            told, seen = memory.touched(), disk.touched()
            # A file moved over an equal one looks unchanged on disk.
            assert told == seen or (name == "move" and set(seen) < set(told)), (name, args)
        assert memory.paths() == disk.paths() == list(memory.snapshot())
        assert memory.diff() == disk.diff()
        assert memory.texts() == disk.texts()


@contextmanager
def raises(kind: type[OSError], text: str) -> Iterator[None]:
    with pytest.raises(kind) as caught:
        yield
    assert str(caught.value) == text


def test_errors_are_the_natural_ones(workspace: Workspace) -> None:
    with raises(FileNotFoundError, "[Errno 2] No such file or directory: 'nope'"):
        workspace.read("./nope")
    with raises(IsADirectoryError, "[Errno 21] Is a directory: 'd'"):
        workspace.read("d")
    with raises(IsADirectoryError, "[Errno 21] Is a directory: 'd'"):
        workspace.write("d", b"")
    with raises(NotADirectoryError, "[Errno 20] Not a directory: 'a/b'"):
        workspace.read("a/b")
    with raises(NotADirectoryError, "[Errno 20] Not a directory: 'a/b/c'"):
        workspace.write("a/b/c", b"")
    with raises(NotADirectoryError, "[Errno 20] Not a directory: 'a'"):
        workspace.entries("a")
    with raises(PermissionError, "[Errno 13] Permission denied: '../a'"):
        workspace.read("../a")
    with raises(PermissionError, "[Errno 13] Permission denied: '.'"):
        workspace.delete(".")
    with raises(FileNotFoundError, "[Errno 2] No such file or directory: 'nope'"):
        workspace.delete("nope")
    with raises(IsADirectoryError, "[Errno 21] Is a directory: 'd'"):
        workspace.move("a", "d")
    with raises(OSError, "[Errno 22] Invalid argument: 'd/e/f'"):
        workspace.move("d", "d/e/f")


def test_reading_and_writing(workspace: Workspace) -> None:
    workspace.write("new/deep/f", b"x")
    workspace.append("new/deep/f", b"y")
    workspace.append("fresh", b"z")
    assert workspace.read("new/deep/f") == b"xy"
    assert workspace.entries() == ["a", "d/", "fresh", "new/"]
    assert workspace.entries("d") == ["e/", "x", "z"]
    assert workspace.stat("d/x") == {"kind": "file", "size": 4}
    assert workspace.stat("d") == {"kind": "folder", "size": 0}
    assert workspace.texts()["d/x"] == "two\n"
    assert workspace.texts()["d/e/y"] == b"\xff\x00"
    assert workspace.diff() == {"fresh": "created", "new/deep/f": "created"}


def test_a_file_changed_and_restored_is_not_in_the_diff(workspace: Workspace) -> None:
    workspace.write("a", b"other")
    workspace.delete("d/x")
    assert workspace.diff() == {"a": "changed", "d/x": "deleted"}
    workspace.write("a", b"one\n")
    workspace.write("d/x", b"two\n")
    assert workspace.diff() == {}


def test_an_emptied_folder_stays(workspace: Workspace) -> None:
    workspace.delete("d/e/y")
    assert workspace.entries("d/e") == []
    assert "e/" in workspace.entries("d")


def test_moving_a_folder_and_replacing_a_file(workspace: Workspace) -> None:
    workspace.move("d", "k/l")
    workspace.move("a", "k/l/x")
    assert workspace.snapshot() == {"k/l/e/y": b"\xff\x00", "k/l/x": b"one\n", "k/l/z": b""}
    assert workspace.entries() == ["k/"]


def test_touched_tells_only_what_the_agent_really_changed(workspace: Workspace) -> None:
    assert workspace.touched() == ()
    workspace.write("a", b"one\n")
    workspace.append("a", b"")
    workspace.read("a")
    assert workspace.touched() == ()
    workspace.write("b", b"")
    workspace.delete("d")
    assert workspace.touched() == ("b", "d/e/y", "d/x", "d/z")
    assert workspace.touched() == ()
    with workspace.other_hand():
        workspace.write("a", b"not the agent")
        workspace.move("a", "c")
    workspace.hide("b")
    workspace.show("b")
    workspace.cover("c")
    workspace.show("c")
    assert workspace.touched() == ()
    assert workspace.read("c") == b"not the agent"


def test_a_full_disk_takes_no_more_than_what_is_deleted_leaves(workspace: Workspace) -> None:
    workspace.fill()
    for write in (workspace.write, workspace.append):
        with pytest.raises(OSError, match="No space left") as raised:
            write("a", b"one\ntwo\n")
        assert (raised.value.errno, raised.value.filename) == (errno.ENOSPC, "a")
    assert workspace.read("a") == b"one\n"
    workspace.write("a", b"1\n")  # shorter than it was
    with pytest.raises(OSError, match="No space left"):
        workspace.write("new", b"three")
    workspace.delete("d/x")
    workspace.write("new", b"three")
    with workspace.other_hand():
        workspace.write("theirs", b"as much as they like")
    workspace.drain()
    workspace.write("a", b"as much as it likes")


def test_a_hidden_folder_is_gone_for_everything_and_comes_back(workspace: Workspace) -> None:
    workspace.hide("d")
    workspace.hide("d")
    assert workspace.entries() == ["a"]
    assert workspace.paths() == ["a"]
    for look in (workspace.read, workspace.entries, workspace.stat):
        with pytest.raises(FileNotFoundError):
            look("d")
    workspace.show("d")
    assert workspace.snapshot() == dict(sorted(FILES.items()))
    assert workspace.diff() == {}
    workspace.show("d")


def test_what_the_agent_made_meanwhile_stays(workspace: Workspace) -> None:
    workspace.hide("a")
    workspace.write("a", b"mine")
    workspace.show("a")
    assert workspace.read("a") == b"mine"
    workspace.hide("d")
    workspace.write("d/x", b"mine")
    workspace.write("d/new", b"mine")
    workspace.show("d")
    assert workspace.read("d/x") == workspace.read("d/new") == b"mine"
    assert workspace.read("d/e/y") == b"\xff\x00", "the rest of the folder is back"


def test_hidden_inside_a_hidden_folder(workspace: Workspace) -> None:
    workspace.hide("d/x")
    workspace.hide("d")
    workspace.show("d/x")
    assert workspace.paths() == ["a"]
    workspace.show("d")
    assert workspace.paths() == sorted(FILES)


def test_hidden_inside_a_folder_that_the_agent_deletes(workspace: Workspace) -> None:
    workspace.hide("d/x")
    workspace.delete("d")
    workspace.show("d/x")
    assert workspace.paths() == ["a"]


def test_a_covered_file_is_a_directory(workspace: Workspace) -> None:
    workspace.cover("a", "directory")
    assert workspace.entries() == ["a/", "d/"]
    assert workspace.entries("a") == []
    assert "a" not in workspace.paths()
    for attempt in (
        lambda: workspace.read("a"),
        lambda: workspace.write("a", b""),
        lambda: workspace.append("a", b""),
    ):
        with pytest.raises(IsADirectoryError):
            attempt()
    workspace.cover("a")
    workspace.show("a")
    assert workspace.read("a") == b"one\n"
    assert workspace.diff() == {}


def test_covered_then_hidden_then_shown(workspace: Workspace) -> None:
    workspace.cover("a")
    workspace.hide("a")
    assert workspace.entries() == ["d/"]
    workspace.show("a")
    assert workspace.read("a") == b"one\n"


def test_a_covering_directory_that_the_agent_used_stays(workspace: Workspace) -> None:
    workspace.cover("a")
    workspace.write("a/inside", b"mine")
    workspace.show("a")
    assert workspace.entries("a") == ["inside"]
    with pytest.raises(ValueError, match="'pipe'"):
        workspace.cover("d/x", "pipe")
