"""Ways round a fake file system: what reaches the real one, or another process, is refused and told.

Python tells its audit hooks of every process that is started and of every file that is really opened,
however the code came by the function. C code that opens files itself (ctypes, some readers of data) tells
nobody and is not seen. A hook can never be taken off again: without a fake workspace it does nothing.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

WAY = 'The workspace is fake, in memory: use workspace = "disk" (--workspace disk) for this agent.'
PROCESSES = frozenset(
    {
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.spawn",
        "os.system",
        "pty.spawn",
        "subprocess.Popen",
    }
)
CHANGES = frozenset(
    {
        "os.chdir",
        "os.chmod",
        "os.chown",
        "os.link",
        "os.mkdir",
        "os.remove",
        "os.rename",
        "os.rmdir",
        "os.setxattr",
        "os.symlink",
        "os.truncate",
        "os.utime",
    }
)
LOOKS = frozenset({"os.listdir", "os.scandir"})
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
DEVICES = ("/dev/", "/proc/", "/sys/")
# These look at the real files on our behalf: the source lines of a traceback, a library's own data.
TRUSTED = frozenset({"forge_chaos", "importlib", "linecache", "pyfakefs", "tokenize", "zipimport"})


# These start a process to learn about the machine, not about the workspace.
ASKING = frozenset({"ctypes.util", "platform", "uuid"})


class Detour(OSError):
    """A tool went round the fake file system; the text says how, and the way out."""


class Watch:
    """Refuses detours from `start` to `stop`; `seen` are those that were tried, in words.

    `root` is the folder of the fake workspace: no real file lies there.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self.seen: list[str] = []

    def start(self) -> None:
        global _hooked, _watch
        if not _hooked:
            _hooked = True
            sys.addaudithook(_hook)
        _watch = self

    def stop(self) -> None:
        global _watch
        _watch = None

    def refuse(self, what: str) -> None:
        """Raises Detour and keeps in mind that it did."""
        self.seen.append(what)
        raise Detour(f"{what} is refused. {WAY}")

    def look(self, event: str, args: tuple[Any, ...]) -> None:
        """Raises Detour when this is one."""
        what = _told(event, args, self.root)
        if what is not None and not _trusted(event):
            self.refuse(what)


@contextmanager
def trusted() -> Iterator[None]:
    """What this thread does inside is ours: an import, a check command."""
    _here.depth = getattr(_here, "depth", 0) + 1
    try:
        yield
    finally:
        _here.depth -= 1


_hooked = False
_watch: Watch | None = None
_here = threading.local()


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _watch is not None and event in _EVENTS and not getattr(_here, "depth", 0):
        _watch.look(event, args)


_EVENTS = PROCESSES | CHANGES | LOOKS | {"open", "sqlite3.connect"}


def _told(event: str, args: tuple[Any, ...], root: str) -> str | None:
    """The detour in words; None when it is none."""
    if event in PROCESSES:
        return f"starting a process ({_command(event, args)})"
    if event == "sqlite3.connect":
        name = _path(args[0])
        return None if name is None or ":memory:" in name or not name else f"SQLite's own file {name!r}"
    path = _path(args[0] if args else None)
    if path is None:  # an open file, by its number
        return None if event not in LOOKS else f"looking at the real current directory ({event})"
    if path.startswith(DEVICES):
        return None
    if event in CHANGES:
        return f"changing the real file {path!r} ({event})"
    if event == "open" and args[2] & WRITING:
        return f"opening the real file {path!r} for writing"
    if not path.startswith("/") or (path + "/").startswith(root + "/"):
        return f"looking at the real file {path!r} ({event})"
    return None


def _command(event: str, args: tuple[Any, ...]) -> str:
    if event in ("os.fork", "os.forkpty"):
        return event
    words = args[1] if event in ("os.exec", "os.posix_spawn", "subprocess.Popen") else args[0]
    if isinstance(words, bytes):
        return words.decode(errors="replace")
    return words if isinstance(words, str) else " ".join(str(word) for word in words)


def _path(given: object) -> str | None:
    try:
        return os.fsdecode(given)  # type: ignore[arg-type]  # anything else is a TypeError
    except TypeError:
        return None


def _trusted(event: str) -> bool:
    """Is the code that asks one of those above: the nearest one, or for a process any on the way to it?"""
    callers = (name for name in _callers() if name != __name__)
    if event in PROCESSES:
        return any(name in ASKING for name in callers)
    nearest = next(callers, "")
    return nearest.partition(".")[0] in TRUSTED or nearest.startswith("_frozen_importlib")


def _callers() -> Iterator[str]:
    """The modules whose code is being run, the nearest first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield str(frame.f_globals.get("__name__", ""))
        frame = frame.f_back
