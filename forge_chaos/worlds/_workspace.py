"""What every workspace does alike; a back-end adds where the bytes are.

Both back-ends raise the same exception with the same relative path because the checks stand here,
once. The shape is `ports.Workspace`.
"""

from __future__ import annotations

import errno
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

from forge_chaos.worlds._paths import failure, inside, parent, parents, relative

Kind: TypeAlias = Literal["file", "folder", "special"]
TOP = "."


class Files(ABC):
    """A workspace. Writing makes missing folders; moving is renaming; deleting takes whole folders.

    What the agent changes through it, or on disk beside it, is told by `touched`; what is done inside
    `with workspace.other_hand():` and by `hide`, `show`, `cover` is the world's doing and is not.
    """

    def __init__(self) -> None:
        self._others = 0
        self._stashed: dict[str, Any] = {}
        self._covers: set[str] = set()
        self._due: set[str] = set()
        self._capacity: int | None = None

    def normal(self, path: str) -> str:
        """The path as this workspace knows it. Raises as `_paths.relative`."""
        return relative(path)

    def read(self, path: str) -> bytes:
        path = self.normal(path)
        self._need_file(path)
        return self._get(path)

    def write(self, path: str, data: bytes) -> None:
        path = self.normal(path)
        there = self._need_room(path)
        if there and self._get(path) == data:
            return
        self._need_space(path, len(data) - (self._size(path) if there else 0))
        self._put(path, data)
        self._note(path)

    def append(self, path: str, data: bytes) -> None:
        path = self.normal(path)
        if self._need_room(path) and not data:
            return
        self._need_space(path, len(data))
        self._add(path, data)
        self._note(path)

    def entries(self, path: str = TOP) -> list[str]:
        """Names in a folder, sorted, folders with a `/` at the end."""
        path = self.normal(path)
        kind = self._kind(path)
        if kind is None:
            raise self._missing(path)
        if kind != "folder":
            raise failure(errno.ENOTDIR, path)
        return sorted(self._names(path))

    def delete(self, path: str) -> None:
        path = self.normal(path)
        self._need_any(path)
        gone = self._under(path)
        self._drop(path)
        self._note(*gone)

    def move(self, source: str, destination: str) -> None:
        """Rename. A file at the destination is replaced, a folder there only when it is empty."""
        source, destination = self.normal(source), self.normal(destination)
        self._need_any(source)
        if source == destination:
            return
        if inside(destination, source):
            raise failure(errno.EINVAL, destination)
        folder, there = self._kind(source) == "folder", self._kind(destination)
        if there == "folder" and not folder:
            raise failure(errno.EISDIR, destination)
        if there == "folder" and self._names(destination):
            raise failure(errno.ENOTEMPTY, destination)
        if there is not None and there != "folder" and folder:
            raise failure(errno.ENOTDIR, destination)
        if there is None:
            self._missing_parents(destination)
        before = self._under(source)
        self._shift(source, destination)
        self._note(*before, *self._under(destination))

    def stat(self, path: str) -> Mapping[str, Any]:
        """`{"kind": file | folder | special, "size": bytes}`; a folder's size is 0."""
        path = self.normal(path)
        kind = self._kind(path)
        if kind is None:
            raise self._missing(path)
        return {"kind": kind, "size": self._size(path) if kind == "file" else 0}

    def texts(self) -> dict[str, str | bytes]:
        """The snapshot with every file that is UTF-8 as text."""
        return {path: as_text(data) for path, data in self.snapshot().items()}

    def hide(self, path: str) -> None:
        """File or whole folder: gone for everything. Nothing there, or hidden already: nothing happens."""
        path = self.normal(path)
        self._uncover(path)
        if path != TOP and self._exists(path):
            self._stashed[path] = self._take(path)

    def cover(self, path: str, by: str = "directory") -> None:
        """What is at `path`, or nothing, is an empty directory until `show`."""
        if by != "directory":
            raise ValueError(f"a path is covered by a 'directory', not by {by!r}")
        path = self.normal(path)
        if path == TOP or (path in self._covers and self._kind(path) == "folder"):
            return
        self._missing_parents(path)
        self.hide(path)
        self._folder(path)
        self._covers.add(path)

    def show(self, path: str) -> None:
        """What was hidden or covered is back. Where the agent made something meanwhile, that stays.

        Hidden inside a folder that is hidden itself: back as soon as the folder is. Inside a folder
        that the agent deleted meanwhile: deleted with it.
        """
        path = self.normal(path)
        self._uncover(path)
        if path not in self._stashed:
            return
        if any(above in self._stashed for above in parents(path)):
            self._due.add(path)
            return
        stash = self._stashed.pop(path)
        if self._kind(parent(path)) == "folder":
            self._give(path, stash)
        for inner in sorted(due for due in self._due if inside(due, path)):
            self._due.discard(inner)
            self.show(inner)

    def fill(self) -> None:
        """The disk is full with what it holds now: only what is deleted makes room."""
        self._capacity = self._used()

    def drain(self) -> None:
        """There is room again."""
        self._capacity = None

    def leave(self) -> bool:
        """The shell of `run_command` is in the root again. False when there is none, or it was there."""
        return False

    @contextmanager
    def other_hand(self) -> Iterator[None]:
        """Changes made inside are another hand's, not the agent's."""
        self._others += 1
        try:
            yield
        finally:
            self._others -= 1

    def _uncover(self, path: str) -> None:
        """Take our directory away, unless the agent has put something into it."""
        if path in self._covers:
            self._covers.discard(path)
            if self._kind(path) == "folder" and not self._names(path):
                self._drop(path)

    def _need_file(self, path: str) -> None:
        kind = self._kind(path)
        if kind == "file":
            return
        if kind is None:
            raise self._missing(path)
        raise failure(errno.EISDIR if kind == "folder" else errno.EINVAL, path)

    def _need_any(self, path: str) -> None:
        if path == TOP:
            raise failure(errno.EACCES, path)
        if not self._exists(path):
            raise self._missing(path)

    def _need_room(self, path: str) -> bool:
        """May a file be written here? Says whether one is there already."""
        kind = self._kind(path)
        if kind is None:
            self._missing_parents(path)
            return False
        if kind != "file":
            raise failure(errno.EISDIR if kind == "folder" else errno.EINVAL, path)
        return True

    def _need_space(self, path: str, more: int) -> None:
        if self._capacity is not None and not self._others and self._used() + more > self._capacity:
            raise failure(errno.ENOSPC, path)

    def _used(self) -> int:
        return sum(self._size(path) for path in self.paths())

    def _missing(self, path: str) -> OSError:
        """Not there: because of a file in the way (ENOTDIR), or just so (ENOENT)."""
        blocked = any(self._kind(above) not in ("folder", None) for above in parents(path))
        return failure(errno.ENOTDIR if blocked else errno.ENOENT, path)

    def _missing_parents(self, path: str) -> None:
        for above in parents(path):
            kind = self._kind(above)
            if kind is None:
                return
            if kind != "folder":
                raise failure(errno.ENOTDIR, path)

    def _exists(self, path: str) -> bool:
        return self._kind(path) is not None

    @abstractmethod
    def paths(self) -> list[str]:
        """Every file, sorted."""

    @abstractmethod
    def snapshot(self) -> dict[str, bytes]:
        """Every file with its bytes, sorted."""

    @abstractmethod
    def diff(self) -> dict[str, str]:
        """{path: created | changed | deleted} since the beginning, sorted."""

    @abstractmethod
    def touched(self) -> tuple[str, ...]:
        """Files that the agent changed since this was last asked, sorted."""

    @abstractmethod
    def close(self) -> None: ...
    @abstractmethod
    def _kind(self, path: str) -> Kind | None: ...
    @abstractmethod
    def _get(self, path: str) -> bytes: ...
    @abstractmethod
    def _size(self, path: str) -> int: ...
    @abstractmethod
    def _put(self, path: str, data: bytes) -> None: ...
    @abstractmethod
    def _add(self, path: str, data: bytes) -> None: ...
    @abstractmethod
    def _folder(self, path: str) -> None: ...
    @abstractmethod
    def _drop(self, path: str) -> None: ...
    @abstractmethod
    def _shift(self, source: str, destination: str) -> None: ...
    @abstractmethod
    def _names(self, path: str) -> list[str]: ...
    @abstractmethod
    def _under(self, path: str) -> list[str]: ...
    @abstractmethod
    def _take(self, path: str) -> Any: ...
    @abstractmethod
    def _give(self, path: str, stash: Any) -> None: ...
    @abstractmethod
    def _note(self, *paths: str) -> None: ...


def as_text(data: bytes) -> str | bytes:
    """Text where the bytes are UTF-8, else the bytes."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data
