"""A folder of a fake file system as a tree of nodes: looked through without rights, times or open files."""

from __future__ import annotations

import errno
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress

from pyfakefs.fake_filesystem import FakeDirectory, FakeFile

from forge_chaos.worlds._paths import failure, inside, name, parent, parents
from forge_chaos.worlds._workspace import TOP


class Tree:
    """The nodes below `top`, by normalised relative paths. `root` is its absolute path, `realpath` follows
    links as the file system's own does. A link that leads out of it raises PermissionError."""

    def __init__(self, top: FakeDirectory, root: str, realpath: Callable[[str], str]) -> None:
        self.top = top
        self._root = root
        self._realpath = realpath

    def real(self, path: str) -> str:
        """Where the path leads, links followed."""
        if not self._linked(path):
            return path
        found = self._realpath(f"{self._root}/{path}")
        if not inside(found, self._root):
            raise failure(errno.EACCES, path)
        return found[len(self._root) + 1 :] or TOP

    def plain(self, path: str) -> FakeFile | None:
        """What stands at a path of no links."""
        node: FakeFile = self.top
        for step in () if path == TOP else path.split("/"):
            found = node.entries.get(step) if isinstance(node, FakeDirectory) else None
            if found is None:
                return None
            node = found
        return node

    def node(self, path: str) -> FakeFile | None:
        """What the path leads to, links followed."""
        return self.plain(self.real(path))

    def link(self, path: str) -> FakeFile | None:
        """What stands at the path itself; only the folders above are followed."""
        if path == TOP:
            return self.top
        folder = self.node(parent(path))
        return folder.entries.get(name(path)) if isinstance(folder, FakeDirectory) else None

    def holder(self, path: str) -> FakeDirectory:
        """The folder that holds the path. Raises FileNotFoundError."""
        folder = self.node(parent(path))
        if not isinstance(folder, FakeDirectory):
            raise failure(errno.ENOENT, path)
        return folder

    def names(self, path: str) -> list[str]:
        """What a folder holds, folders with a `/` at the end."""
        folder = self.node(path)
        head = "" if path == TOP else path + "/"
        names = list(folder.entries) if isinstance(folder, FakeDirectory) else []
        return [child + "/" if self._is_folder(head + child) else child for child in names]

    def below(self, path: str = TOP) -> Iterator[tuple[str, FakeFile]]:
        """Everything below a folder that is no folder; links to folders are not followed."""
        folder = self.link(path)
        if isinstance(folder, FakeDirectory):
            yield from _below(folder, "" if path == TOP else path + "/")

    def seen(self, path: str, node: FakeFile) -> bytes:
        """The bytes, of a link's file too; else a sentence that says what is there."""
        if not stat.S_ISLNK(node.st_mode):
            return content(node) if stat.S_ISREG(node.st_mode) else b"[no regular file]"
        with suppress(PermissionError):
            found = self.node(path)
            if found is not None and stat.S_ISREG(found.st_mode):
                return content(found)
        return f"[link to {node.contents}]".encode(errors="replace")

    def _linked(self, path: str) -> bool:
        nodes = (self.plain(step) for step in (*parents(path), path))
        return any(node is not None and stat.S_ISLNK(node.st_mode) for node in nodes)

    def _is_folder(self, path: str) -> bool:
        with suppress(OSError):  # a link that leads out, or round in a circle
            return isinstance(self.node(path), FakeDirectory)
        return False


def content(node: FakeFile | None) -> bytes:
    return (node.byte_contents if node is not None else None) or b""


def _below(folder: FakeDirectory, head: str) -> Iterator[tuple[str, FakeFile]]:
    for child, node in list(folder.entries.items()):
        if isinstance(node, FakeDirectory):
            yield from _below(node, f"{head}{child}/")
        else:
            yield head + child, node
