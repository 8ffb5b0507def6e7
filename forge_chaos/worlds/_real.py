"""What a fake file system shows of the real one, for reading: libraries, and where the trial was started."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from pyfakefs.fake_file import FakeFileFromRealFile
from pyfakefs.fake_filesystem import FakeDirectory, FakeDirectoryFromRealDirectory, FakeFile, FakeFilesystem
from pyfakefs.helpers import get_uid, set_uid

from forge_chaos.worlds._paths import failure

SYSTEM = ("/etc/ssl", "/usr/share/zoneinfo")


def show_real(fs: FakeFilesystem, user: int) -> None:
    """Show the folders at their own paths, read when they are looked into.

    A home directory is there in any case: an empty one, of `user`, where the real one is not shown.
    """
    with as_root():
        for folder in _outermost((*sys.path, sys.prefix, sys.base_prefix, os.getcwd(), *SYSTEM)):
            with suppress(OSError):  # gone meanwhile, or there already
                folder_at(fs.root, os.path.dirname(folder), fs, 0).add_entry(_Shown(folder, fs))
        home = os.path.expanduser("~")
        if home.startswith("/"):
            folder_at(fs.root, home, fs, user)


def folder_at(top: FakeDirectory, path: str, fs: FakeFilesystem, user: int) -> FakeDirectory:
    """The folder at a path of no links below `top`; what is missing of it is made, and is `user`'s.

    Quicker by far than by the file system's own way. Raises NotADirectoryError.
    """
    for step in path.split("/"):
        if step in ("", "."):
            continue
        found = top.entries.get(step)
        if found is None:
            found = FakeDirectory(step, 0o755, fs)
            found.st_uid = user
            top.add_entry(found)
        if not isinstance(found, FakeDirectory):
            raise failure(errno.ENOTDIR, path)
        top = found
    return top


@contextmanager
def as_root() -> Iterator[None]:
    """Inside, rights do not count in any fake file system."""
    user = get_uid()
    set_uid(0)
    try:
        yield
    finally:
        set_uid(user)


def as_given(path: object, here: str) -> object:
    """A path of an error as the code that met it has written it: the kernel makes none absolute."""
    if not isinstance(path, str) or not path.startswith("/"):
        return path
    given: object = path
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not str(frame.f_globals.get("__name__", "")).startswith("pyfakefs"):
        frame = frame.f_back
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith("pyfakefs"):
        for value in frame.f_locals.values():
            plain = os.fspath(value) if isinstance(value, os.PathLike) else value
            if isinstance(plain, str) and os.path.normpath(os.path.join(here, plain)) == path:
                given = plain
        frame = frame.f_back
    return given


def blocked(fs: FakeFilesystem, path: str) -> bool:
    """Is there a file where the path needs a folder? Not looked for behind links."""
    node: FakeFile = fs.root
    for step in os.path.normpath(os.path.join(fs.cwd, path)).split("/")[1:]:
        if not isinstance(node, FakeDirectory):
            return stat.S_ISREG(node.st_mode)
        if step not in node.entries:
            return False
        node = node.entries[step]
    return False


class _Shown(FakeDirectoryFromRealDirectory):
    """A real folder: its names are read when they are asked for, and nothing in it can be changed."""

    def __init__(self, real: str, fs: FakeFilesystem) -> None:
        super().__init__(real, fs, read_only=True)
        self._fs = fs
        _only_to_be_read(self)

    @property
    def entries(self) -> dict[str, FakeFile]:
        if not self.contents_read:
            self.contents_read = True
            with as_root():
                for entry in os.scandir(self.source_path):
                    with suppress(OSError):  # gone, or not ours to read
                        self.add_entry(_shown(entry, self._fs))
        found: dict[str, FakeFile] = self._entries
        return found


def _shown(entry: os.DirEntry[str], fs: FakeFilesystem) -> FakeFile:
    if entry.is_symlink():
        return FakeFile(entry.name, stat.S_IFLNK | 0o777, os.readlink(entry.path), fs)
    if entry.is_dir():
        return _Shown(entry.path, fs)
    node = FakeFileFromRealFile(entry.path, fs)
    node.stat_result.set_from_stat_result(entry.stat())
    node.st_size, node.file_path = entry.stat().st_size, entry.path
    _only_to_be_read(node)
    return node


def _only_to_be_read(node: FakeFile) -> None:
    folder = isinstance(node, FakeDirectory)
    node.st_uid = node.st_gid = 0
    node.st_mode = stat.S_IFMT(node.st_mode) | (0o555 if folder else 0o444)


def _outermost(paths: Iterable[str]) -> list[str]:
    """The folders among them that lie in no other; never everything."""
    real = {os.path.abspath(path) for path in paths if path}
    kept: list[str] = []
    for folder in sorted(path for path in real if path != "/" and os.path.isdir(path)):
        if not any(folder.startswith(above + "/") for above in kept):
            kept.append(folder)
    return kept
