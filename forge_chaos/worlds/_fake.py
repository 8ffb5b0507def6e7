"""The fake workspace: a file system in memory that the user's own `open`, os, pathlib and shutil work on.

For an agent's own tools in this process. Its code stays as it is, and its errors come from below: what is
hidden is not found by its `open`, what is full takes none of its bytes, what it may not read is refused.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from pyfakefs.fake_filesystem import FakeDirectory, FakeFile
from pyfakefs.helpers import PERM_WRITE, get_uid

from forge_chaos.errors import Misuse
from forge_chaos.worlds._detours import WAY, Watch
from forge_chaos.worlds._patch import Patch
from forge_chaos.worlds._paths import failure, inside, name, parent, parents, relative
from forge_chaos.worlds._real import as_given, as_root, blocked, folder_at, show_real
from forge_chaos.worlds._tree import Tree, content
from forge_chaos.worlds._workspace import Files, Kind

PLACE = "/forge-chaos"


class FakeWorkspace(Files):
    """Files in `root`, of a file system of its own, from when it is made until `close`.

    The patch is of the whole process, so that there is one at a time: another thread waits for its turn.
    The user in it is nobody special, whoever runs the trial: rights that are taken away are missing.
    What exists for real - the libraries, the folder that the trial was started in - can be read at its
    place; nothing real is ever written. Raises Misuse when this thread has one already, and at `close`
    when the trial went round it: what such a trial has shown is no fact about the agent.
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        super().__init__()
        plain = _plain(files)
        self.root = f"{PLACE}/work"
        self._hands = 0
        self._jammed = 0
        self._turned_away = 0
        self._forbidden = 0
        self._closed = False
        self._watch = Watch(PLACE)
        self._patch = Patch.start(f"{PLACE}/tmp")
        try:
            self._fs: Any = self._patch.fs
            self._user = get_uid()
            self._begin(plain)
        except BaseException:
            self._end()
            raise
        self._watch.start()

    def _begin(self, files: Mapping[str, bytes]) -> None:
        fs = self._fs
        fs.shuffle_listdir_results = False  # equal plans, equal traces
        self._mount = fs.add_mount_point(PLACE)
        fs.change_disk_usage, fs.raise_os_error = self._account, self._told
        for folder in (fs.root, fs.root.entries[name(PLACE)]):
            folder.st_uid, folder.st_mode = 0, stat.S_IFDIR | 0o755
        with self._hand():
            top = folder_at(fs.root, self.root, fs, self._user)
            folder_at(fs.root, f"{PLACE}/tmp", fs, self._user)
        self._tree = Tree(top, self.root, self._patch.fake_modules["os"].path.realpath)
        show_real(fs, self._user)
        for path, data in files.items():
            self._put(path, data)
        fs.cwd = self.root
        self._base = self.snapshot()
        self._marks = self._scan()

    def enter(self) -> None:
        """It is the current directory as soon as it is made."""

    def close(self) -> None:
        """Everything is as it was before; what the workspace held is gone. Raises Misuse as said above."""
        self._end()
        if self._watch.seen and sys.exc_info()[0] is None:
            more = f" (and {len(self._watch.seen) - 1} more)" if len(self._watch.seen) > 1 else ""
            raise Misuse(f"the agent's tools went round the file system: {self._watch.seen[0]}{more}. {WAY}")

    def _end(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._watch.stop()
        self._patch.stop()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Inside, the files are the real ones."""
        with self._patch.paused():
            yield

    def normal(self, path: str) -> str:
        """As on disk: an absolute path that lies in the root is made relative."""
        if path.startswith("/") and "\0" not in path:
            plain = os.path.normpath(path)
            if inside(plain, self.root):
                return relative(plain[len(self.root) + 1 :])
        return relative(path)

    def paths(self) -> list[str]:
        return sorted(path for path, _ in self._tree.below())

    def snapshot(self) -> dict[str, bytes]:
        """As in memory. A link that leads out, or what is no regular file, is there with a sentence."""
        return {path: self._tree.seen(path, node) for path, node in sorted(self._tree.below())}

    def diff(self) -> dict[str, str]:
        now = self.snapshot()
        found: dict[str, str] = {}
        for path in sorted({*self._base, *now}):
            if path not in self._base:
                found[path] = "created"
            elif path not in now:
                found[path] = "deleted"
            elif now[path] != self._base[path]:
                found[path] = "changed"
        return found

    def touched(self) -> tuple[str, ...]:
        """Found by looking: what the agent's own code changed is told too."""
        before, self._marks = self._marks, self._scan()
        now = self._marks
        return tuple(sorted(path for path in {*before, *now} if before.get(path) != now.get(path)))

    def fill(self) -> None:
        super().fill()
        self._mount["total_size"] = self._capacity

    def drain(self) -> None:
        super().drain()
        self._mount["total_size"] = None

    @contextmanager
    def no_room(self) -> Iterator[Callable[[], bool]]:
        """Inside, no file grows, whatever is deleted. Says whether somebody has tried to make one grow."""
        before = self._turned_away
        self._jammed += 1
        try:
            yield lambda: self._turned_away > before
        finally:
            self._jammed -= 1

    @contextmanager
    def no_rights(self, path: str) -> Iterator[Callable[[], bool]]:
        """Inside, the agent's code may not change what is at `path`, nor what stands beside it. Says
        whether it has been told so."""
        before, held = self._forbidden, []
        with suppress(OSError, ValueError):
            path = self.normal(path)
            held = [
                node for node in (self._tree.node(path), self._tree.node(parent(path))) if node is not None
            ]
        rights = [(node, node.st_mode, node.st_uid) for node in held]
        for node in held:
            node.st_mode, node.st_uid = node.st_mode & ~0o222, 0
        try:
            yield lambda: self._forbidden > before
        finally:
            for node, mode, user in rights:
                node.st_mode, node.st_uid = mode, user

    def _told(self, number: int, path: Any = None, winerror: int | None = None) -> NoReturn:
        """How the file system raises its errors."""
        if number == errno.EACCES:
            self._forbidden += 1
        if number == errno.ENOENT and isinstance(path, str) and blocked(self._fs, path):
            number = errno.ENOTDIR
        raise OSError(number, os.strerror(number), as_given(path, self._fs.cwd))

    def hide(self, path: str) -> None:
        super().hide(path)
        self._absorb(self.normal(path))

    def cover(self, path: str, by: str = "directory") -> None:
        super().cover(path, by)
        self._absorb(self.normal(path))

    def show(self, path: str) -> None:
        super().show(path)
        self._absorb(self.normal(path))

    def _account(self, change: int, path: str, device: int) -> None:
        """How the file system counts its bytes. Raises ENOSPC where there is no room for the agent's."""
        if device != self._mount["idev"]:
            return
        if change > 0 and not self._hands and not self._room(change):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # as the kernel's write: without a path
        self._mount["used_size"] += change

    def _room(self, more: int) -> bool:
        full = self._capacity is not None and self._used() + more > self._capacity
        if full or self._jammed:
            self._turned_away += 1
            return False
        return True

    def _need_space(self, path: str, more: int) -> None:
        if self._others:
            return
        self._need_right(path, self._tree.node(path) or self._tree.node(parent(path)))
        if more > 0 and not self._room(more):
            raise failure(errno.ENOSPC, path)

    def _need_any(self, path: str) -> None:
        super()._need_any(path)
        if not self._others:
            self._need_right(path, self._tree.node(parent(path)))

    def _need_right(self, path: str, node: FakeFile | None) -> None:
        """A scenario's tools are the user's hands too: what its own code may not change, they may not."""
        if node is not None and not node.has_permission(PERM_WRITE):
            self._told(errno.EACCES, path)

    @contextmanager
    def _hand(self) -> Iterator[None]:
        """Inside, neither rights nor room count: the world itself changes its files."""
        self._hands += 1
        try:
            with as_root():
                yield
        finally:
            self._hands -= 1

    def _used(self) -> int:
        return int(self._mount["used_size"])

    def _note(self, *paths: str) -> None:
        """`touched` looks for itself; here another hand's change is taken as seen."""
        for path in paths if self._others else ():
            self._absorb(path)

    def _absorb(self, path: str) -> None:
        for known in [known for known in self._marks if inside(known, path)]:
            del self._marks[known]
        self._marks.update({seen: mark for seen, mark in self._scan().items() if inside(seen, path)})

    def _scan(self) -> dict[str, Any]:
        return {path: _mark(node) for path, node in self._tree.below()}

    def _exists(self, path: str) -> bool:
        return self._tree.link(path) is not None

    def _kind(self, path: str) -> Kind | None:
        node = self._tree.node(path)
        if node is None:
            return None
        if stat.S_ISLNK(node.st_mode):
            raise failure(errno.ELOOP, path)
        if isinstance(node, FakeDirectory):
            return "folder"
        return "file" if stat.S_ISREG(node.st_mode) else "special"

    def _get(self, path: str) -> bytes:
        return content(self._tree.node(path))

    def _size(self, path: str) -> int:
        return len(self._get(path))

    def _put(self, path: str, data: bytes) -> None:
        path = self._tree.real(path)
        node = self._tree.plain(path)
        with self._hand():
            if node is None:
                node = FakeFile(name(path), stat.S_IFREG | 0o644, filesystem=self._fs)
                node.st_uid = self._user
                folder_at(self._tree.top, parent(path), self._fs, self._user).add_entry(node)
            node.set_contents(data)

    def _add(self, path: str, data: bytes) -> None:
        self._put(path, (self._get(path) if self._tree.node(path) is not None else b"") + data)

    def _folder(self, path: str) -> None:
        with self._hand():
            folder_at(self._tree.top, self._tree.real(path), self._fs, self._user)

    def _drop(self, path: str) -> None:
        with self._hand():
            self._tree.holder(path).remove_entry(name(path))

    def _shift(self, source: str, destination: str) -> None:
        node = self._detach(source)
        self._folder(parent(destination))
        if self._exists(destination):
            self._drop(destination)
        node.name = name(destination)  # type: ignore[assignment]  # str | bytes, as one variable
        self._attach(destination, node)

    def _detach(self, path: str) -> FakeFile:
        folder = self._tree.holder(path)
        node = folder.entries[name(path)]
        with self._hand():
            folder.remove_entry(name(path), recursive=False)
        return node

    def _attach(self, path: str, node: FakeFile) -> None:
        with self._hand():
            self._tree.holder(path).add_entry(node)

    def _names(self, path: str) -> list[str]:
        return self._tree.names(path)

    def _under(self, path: str) -> list[str]:
        if not isinstance(self._tree.link(path), FakeDirectory):
            return [path]
        return [found for found, _ in self._tree.below(path)]

    def _take(self, path: str) -> FakeFile:
        return self._detach(path)

    def _give(self, path: str, stash: FakeFile) -> None:
        there = self._tree.link(path)
        if there is None:
            self._attach(path, stash)
        elif isinstance(there, FakeDirectory) and isinstance(stash, FakeDirectory):
            for child, node in sorted(stash.entries.items()):
                with self._hand():
                    stash.remove_entry(child, recursive=False)
                self._give(f"{path}/{child}", node)


def _plain(files: Mapping[str, bytes]) -> dict[str, bytes]:
    try:
        plain = {relative(path): bytes(data) for path, data in files.items()}
    except (OSError, ValueError) as error:
        raise Misuse(f"a workspace cannot begin with such a file: {error}") from None
    both = sorted(above for path in plain for above in parents(path) if above in plain)
    if both:
        raise Misuse(f"a workspace cannot begin with {both[0]!r} as a file and as a folder")
    return plain


def _mark(node: FakeFile) -> tuple[Any, ...]:
    """What tells a file from a changed one. The bytes are shared, not copied."""
    return (stat.S_IFMT(node.st_mode), node.byte_contents)
