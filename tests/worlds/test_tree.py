from __future__ import annotations

import pytest
from pyfakefs.fake_filesystem import FakeFilesystem, FakeOsModule, FakePathModule

from forge_chaos.worlds._tree import Tree, content


@pytest.fixture
def tree() -> Tree:
    fs = FakeFilesystem()
    top = fs.create_dir("/top")
    fs.create_file("/top/d/x", contents="two")
    fs.create_file("/outside", contents="secret")
    for link, target in {"file": "d/x", "folder": "d", "out": "/outside", "gone": "nope"}.items():
        fs.create_symlink(f"/top/{link}", target)
    return Tree(top, "/top", FakePathModule(fs, FakeOsModule(fs)).realpath)


def test_links_are_followed_inside_and_refused_outside(tree: Tree) -> None:
    assert content(tree.node("file")) == content(tree.node("folder/x")) == b"two"
    assert tree.real("folder/x") == "d/x"
    assert tree.real("gone") == "nope"
    assert tree.node("gone") is tree.node("d/x/y") is None
    with pytest.raises(PermissionError, match="'out'"):
        tree.node("out")
    assert tree.link("out") is not None


def test_it_is_looked_through_without_following_folders(tree: Tree) -> None:
    assert sorted(tree.names(".")) == ["d/", "file", "folder/", "gone", "out"]
    found = {path: tree.seen(path, node) for path, node in tree.below()}
    assert found == {
        "d/x": b"two",
        "file": b"two",
        "folder": b"[link to d]",
        "gone": b"[link to nope]",
        "out": b"[link to /outside]",
    }
    assert [path for path, _ in tree.below("d")] == ["d/x"]
    assert list(tree.below("nope")) == []


def test_what_holds_a_path_must_be_there(tree: Tree) -> None:
    assert tree.holder("d/new").name == "d"
    assert tree.holder("new") is tree.top
    with pytest.raises(FileNotFoundError, match="'nope/new'"):
        tree.holder("nope/new")
