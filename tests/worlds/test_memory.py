from __future__ import annotations

import pytest

from forge_chaos.errors import Misuse
from forge_chaos.worlds._memory import MemoryWorkspace, base_of


def test_the_base_is_shared_and_never_written_to() -> None:
    files = {"a": b"1", "d/b": b"2"}
    one, two = MemoryWorkspace(files), MemoryWorkspace(files)
    assert base_of(files) is base_of(files)
    one.write("a", b"changed")
    one.delete("d")
    one.hide("a")
    assert two.snapshot() == files == {"a": b"1", "d/b": b"2"}
    assert MemoryWorkspace(files).diff() == {}


def test_the_base_of_equal_but_other_files_is_another() -> None:
    assert base_of({"a": b"1"}) is not base_of({"a": b"1"})
    for number in range(200):  # more than are kept
        assert MemoryWorkspace({"a": str(number).encode()}).read("a") == str(number).encode()


def test_base_paths_are_made_plain() -> None:
    assert MemoryWorkspace({"./x//y": b""}).paths() == ["x/y"]


@pytest.mark.parametrize("files", [{"../x": b""}, {"/x": b""}, {"a": b"", "a/b": b""}, {"a\0": b""}])
def test_an_impossible_base_is_misuse(files: dict[str, bytes]) -> None:
    with pytest.raises(Misuse, match="a workspace cannot begin with"):
        MemoryWorkspace(files)
