"""The workspace in memory: an immutable base shared by all trials, and an overlay per trial."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from forge_chaos.errors import Misuse
from forge_chaos.worlds._paths import inside, name, parent, parents, relative
from forge_chaos.worlds._workspace import TOP, Files, Kind, as_text


@dataclass(frozen=True, slots=True)
class Base:
    """What a workspace starts from: files, the names in each folder, and the files as text."""

    files: Mapping[str, bytes]
    folders: Mapping[str, tuple[str, ...]]
    texts: Mapping[str, str | bytes]


_KEPT = 64
_bases: dict[int, tuple[Mapping[str, bytes], Base]] = {}


def base_of(files: Mapping[str, bytes]) -> Base:
    """The base over `files`, made once per mapping object; the mapping must not change afterwards.

    Raises Misuse when a path leads out, or is both a file and a folder.
    """
    found = _bases.get(id(files))
    if found is not None:
        return found[1]
    base = _index(files)
    if len(_bases) >= _KEPT:
        _bases.pop(next(iter(_bases)), None)
    # Holding the mapping keeps its id from being given to another one.
    _bases[id(files)] = (files, base)
    return base


def _index(files: Mapping[str, bytes]) -> Base:
    try:
        plain = {relative(path): bytes(files[path]) for path in sorted(files)}
    except (OSError, ValueError) as error:
        raise Misuse(f"a workspace cannot begin with such a file: {error}") from None
    folders: dict[str, dict[str, None]] = {TOP: {}}
    for path in plain:
        for step in (*parents(path), path):
            folders.setdefault(parent(step), {})[name(step)] = None
    both = sorted(path for path in plain if path in folders)
    if both:
        raise Misuse(f"a workspace cannot begin with {both[0]!r} as a file and as a folder")
    return Base(
        plain,
        {folder: tuple(names) for folder, names in folders.items()},
        {path: as_text(data) for path, data in plain.items()},
    )


@dataclass(frozen=True, slots=True)
class _Stash:
    files: Mapping[str, bytes]
    folders: tuple[str, ...]


class MemoryWorkspace(Files):
    """Files in memory. A fresh one copies nothing of its base, and the diff is its overlay."""

    def __init__(self, base: Mapping[str, bytes]) -> None:
        super().__init__()
        self._base = base_of(base)
        self._files: dict[str, bytes | None] = {}  # None: deleted
        self._folders: dict[str, bool] = {}  # False: removed
        self._touched: set[str] = set()

    def paths(self) -> list[str]:
        return sorted(self._live())

    def snapshot(self) -> dict[str, bytes]:
        return {path: self._get(path) for path in self.paths()}

    def texts(self) -> dict[str, str | bytes]:
        texts = dict(self._base.texts)
        for path, data in self._files.items():
            if data is None:
                texts.pop(path, None)
            else:
                texts[path] = as_text(data)
        return texts

    def diff(self) -> dict[str, str]:
        base = self._base.files
        return {
            path: "deleted" if data is None else "changed" if path in base else "created"
            for path, data in sorted(self._files.items())
        }

    def touched(self) -> tuple[str, ...]:
        if not self._touched:
            return ()
        touched, self._touched = tuple(sorted(self._touched)), set()
        return touched

    def close(self) -> None:
        """Nothing to give back."""

    def _note(self, *paths: str) -> None:
        if not self._others:
            self._touched.update(paths)

    def _live(self) -> Iterable[str]:
        mine = self._files
        yield from (path for path in self._base.files if path not in mine)
        yield from (path for path, data in mine.items() if data is not None)

    def _kind(self, path: str) -> Kind | None:
        if path in self._files:
            if self._files[path] is not None:
                return "file"
        elif path in self._base.files:
            return "file"
        there = self._folders.get(path, path in self._base.folders)
        return "folder" if there else None

    def _get(self, path: str) -> bytes:
        data = self._files.get(path)
        return self._base.files[path] if data is None else data

    def _size(self, path: str) -> int:
        return len(self._get(path))

    def _put(self, path: str, data: bytes) -> None:
        for above in parents(path):
            self._folder(above)
        if self._base.files.get(path) == data:
            self._files.pop(path, None)
        else:
            self._files[path] = bytes(data)

    def _add(self, path: str, data: bytes) -> None:
        self._put(path, (self._get(path) if self._kind(path) else b"") + data)

    def _folder(self, path: str) -> None:
        for step in (*parents(path), path):
            if step in self._base.folders:
                self._folders.pop(step, None)
            else:
                self._folders[step] = True

    def _drop(self, path: str) -> None:
        for file in self._under(path):
            if file in self._base.files:
                self._files[file] = None
            else:
                del self._files[file]
        for folder in self._folders_under(path):
            if folder in self._base.folders:
                self._folders[folder] = False
            else:
                self._folders.pop(folder, None)

    def _shift(self, source: str, destination: str) -> None:
        stash = self._take(source)
        if self._kind(destination) is not None:
            self._drop(destination)
        self._give(destination, _renamed(stash, source, destination))

    def _names(self, path: str) -> list[str]:
        head = "" if path == TOP else path + "/"
        names = {child for child in self._base.folders.get(path, ()) if self._kind(head + child) is not None}
        names.update(
            name(file) for file, data in self._files.items() if data is not None and parent(file) == path
        )
        names.update(
            name(folder) for folder, there in self._folders.items() if there and parent(folder) == path
        )
        return [child + "/" if self._kind(head + child) == "folder" else child for child in names]

    def _under(self, path: str) -> list[str]:
        return [path] if self._kind(path) == "file" else [file for file in self._live() if inside(file, path)]

    def _folders_under(self, path: str) -> list[str]:
        known = {*self._base.folders, *self._folders}
        return [folder for folder in known if inside(folder, path) and self._kind(folder) == "folder"]

    def _take(self, path: str) -> _Stash:
        stash = _Stash(
            {file: self._get(file) for file in self._under(path)}, tuple(sorted(self._folders_under(path)))
        )
        self._drop(path)
        return stash

    def _give(self, path: str, stash: _Stash) -> None:
        for folder in stash.folders:
            if not self._blocked(folder) and self._kind(folder) is None:
                self._folder(folder)
        for file, data in stash.files.items():
            if not self._blocked(file) and self._kind(file) is None:
                self._put(file, data)

    def _blocked(self, path: str) -> bool:
        return any(self._kind(above) == "file" for above in parents(path))


def _renamed(stash: _Stash, source: str, destination: str) -> _Stash:
    def new(path: str) -> str:
        return destination + path[len(source) :]

    return _Stash(
        {new(path): data for path, data in stash.files.items()},
        tuple(new(folder) for folder in stash.folders),
    )
