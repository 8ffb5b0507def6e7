"""Python's own doors to files - `open`, os, io, pathlib, shutil, tempfile - led to a fake file system.

The whole process is patched while a `Patch` is on, but for modules that serve the trial and not the
agent (`LEFT`). A module that is imported meanwhile is made with the real doors, since it may read its own
data, and only then led to the fake ones: it stays imported, and whole, when the patch is off again.
"""

from __future__ import annotations

import pathlib
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, ClassVar

from pyfakefs.fake_filesystem_unittest import Patcher

from forge_chaos.errors import Misuse
from forge_chaos.worlds._detours import trusted

# Packages whose os is the real one: pipes, sockets, threads and processes, ourselves, a running test.
LEFT = frozenset(
    {
        "_pytest",
        "asyncio",
        "concurrent",
        "coverage",
        "forge_chaos",
        "hypothesis",
        "multiprocessing",
        "pluggy",
        "pytest",
        "selectors",
        "signal",
        "socket",
        "subprocess",
        "threading",
    }
)
FUNCTIONS = (FunctionType, BuiltinFunctionType)
DOORS = ("os", "io", "pathlib", "shutil", "fcntl")


class _Left(set[Any]):
    """The modules that are not patched."""

    def __contains__(self, module: object) -> bool:
        return (
            super().__contains__(module) or getattr(module, "__name__", "").partition(".")[0] in LEFT
        )  # `module` may be anything that somebody has put into sys.modules


class Patch(Patcher):
    """On from `start` to `stop`. `fs` is the fake file system, `tmp` where temporary files go meanwhile.

    There is one at a time in a process: in another thread `start` waits for its turn. It raises Misuse
    when this thread has one on already.
    """

    # Its own, so that a user's tests with pyfakefs in the same process keep theirs.
    SKIPMODULES: ClassVar[set[Any]] = _Left(Patcher.SKIPMODULES)
    CACHED_MODULES: ClassVar[set[ModuleType]] = set()
    FS_MODULES: ClassVar[dict[str, set[tuple[ModuleType, str]]]] = {}
    FS_FUNCTIONS: ClassVar[dict[tuple[str, str, str], set[ModuleType]]] = {}
    FS_DEFARGS: ClassVar[list[Any]] = []
    SKIPPED_FS_MODULES: ClassVar[dict[str, set[tuple[ModuleType, str]]]] = {}
    PATCHER = None
    REF_COUNT = 0

    def __init__(self, tmp: str) -> None:
        # Its own way with imports makes every module of the trial anew in the next one: not used.
        super().__init__(allow_root_user=False, use_dynamic_patch=False)
        self._tmp = tmp
        self._doors: dict[str, ModuleType] = {}
        self._finder = _Finder(self)
        self._pauses = 0
        self._pausing = threading.Lock()
        self._on = False
        self._tempdir = tempfile.tempdir

    @classmethod
    def start(cls, tmp: str) -> Patch:
        _take_turn()  # first: two that are only made already get into each other's way
        try:
            made = cls(tmp)
            made.setUp()
            made._on = True
        except BaseException:
            _give_turn()
            raise
        return made

    def stop(self) -> None:
        try:
            with self._pausing:
                self._on = False
                self.tearDown()
        finally:
            _give_turn()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Inside, this thread has the real files. So have the others, which the watch keeps from them."""
        with trusted():
            with self._pausing:
                self._pauses += 1
                if self._pauses == 1 and self._on:
                    self.pause()
            try:
                yield
            finally:
                with self._pausing:
                    self._pauses -= 1
                    if not self._pauses and self._on:
                        self._find_modules()
                        self.resume()

    def start_patching(self) -> None:
        if self._patching:
            return
        for module in self.fake_modules.values():
            if getattr(module, "skip_names", None):
                module.skip_names = set()  # else each call looks through the stack for its caller's name
        super().start_patching()
        tempfile.tempdir = self._tmp
        for name in DOORS:
            if name in sys.modules and name in self.fake_modules:
                self._doors[name] = sys.modules[name]
                sys.modules[name] = self.fake_modules[name]
        sys.meta_path.insert(0, self._finder)

    def stop_patching(self, temporary: bool = False) -> None:
        if not self._patching:
            return
        sys.meta_path.remove(self._finder)
        sys.modules.update(self._doors)
        super().stop_patching(temporary)
        tempfile.tempdir = self._tempdir

    def _find_modules(self) -> None:
        super()._find_modules()
        self.SKIPPED_FS_MODULES.clear()  # what is left out is left as it is
        for holders in self.FS_MODULES.values():  # a Path that is there already makes others by its own name
            holders -= {held for held in holders if held == (pathlib, "Path")}

    # Asked of everything that any module holds. A thing is asked for its type alone: more would wake what
    # is lazy, and import a thousand modules that nobody has asked for.
    def _is_fs_module(self, thing: Any, name: str, names: list[str]) -> bool:
        kind = type(thing)
        return (issubclass(kind, ModuleType) or issubclass(kind, type)) and super()._is_fs_module(
            thing, name, names
        )

    def _is_fs_function(self, thing: Any) -> bool:
        return type(thing) in FUNCTIONS and super()._is_fs_function(thing)


class _Finder(MetaPathFinder):
    """Stands before all others: a module that they find is made while the patch is paused."""

    def __init__(self, patch: Patch) -> None:
        self._patch = patch

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        for finder in list(sys.meta_path):
            if finder is self:
                continue
            if finder in (BuiltinImporter, FrozenImporter, PathFinder):  # they do not see the patch
                spec = finder.find_spec(name, path, target)
            else:
                with self._patch.paused():
                    spec = finder.find_spec(name, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Paused(spec.loader, self._patch)
                return spec
        return None


class _Paused(Loader):
    """A module's own loader, with the patch paused while it works; gone when the module is made."""

    def __init__(self, real: Any, patch: Patch) -> None:
        self._real = real
        self._patch = patch

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        spec.loader = self._real
        try:
            made: ModuleType | None = self._real.create_module(spec)
        finally:
            spec.loader = self
        return made

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._real
        if module.__spec__ is not None:
            module.__spec__.loader = self._real
        with self._patch.paused():
            self._real.exec_module(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


_turn = threading.Lock()
_holder: int | None = None


def _take_turn() -> None:
    global _holder
    if _holder == threading.get_ident():
        raise Misuse(
            "a trial on a fake workspace runs in this process already: it patches the whole process, so that "
            'there is one at a time. Close that one first, or use workspace = "disk".'
        )
    _turn.acquire()
    _holder = threading.get_ident()


def _give_turn() -> None:
    global _holder
    _holder = None
    _turn.release()
