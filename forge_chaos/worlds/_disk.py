"""The workspace on disk: a real folder, for agents that open files and commands that run."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from tempfile import mkdtemp
from threading import Event, Lock
from typing import Any

from forge_chaos.worlds._paths import failure, inside, parent, relative
from forge_chaos.worlds._process import NOT_FOUND, TIMED_OUT, Ended, Groups
from forge_chaos.worlds._workspace import TOP, Files, Kind

SHARED_MEMORY = Path("/dev/shm")
VARIABLE = "FORGE_CHAOS_WORKSPACE"  # in the environment of a command that works here as an agent
_HASHED = 65_536  # larger files are told apart by size and time alone


class DiskWorkspace(Files):
    """Files in a real folder `root`: a fresh one, removed by `close`, or the given one, which stays.

    Our own operations cannot leave it, by `..` or by links. Beside it, never in it, stand HOME and
    TMPDIR of its commands. `setup(root)` fills the folder before anything counts as a change.
    """

    def __init__(
        self,
        files: Mapping[str, bytes],
        root: Path | None = None,
        setup: Callable[[Path], Any] | None = None,
    ) -> None:
        super().__init__()
        self._side = Path(mkdtemp(prefix=f"forge-chaos-{os.getpid()}-", dir=fast_place())).resolve()
        self.root = self._side / "work" if root is None else Path(root).resolve()
        self._top = str(self.root)
        self._groups = Groups(f"HOME={self._side / 'home'}", f"{VARIABLE}={self.root}")
        self._stashes = 0
        self._beside = Lock()
        self._folder_now = self._top
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            for path, data in files.items():
                self._put(relative(path), data)
            if setup is not None:
                setup(self.root)
        except BaseException:
            self.close()
            raise
        self._base = {path: digest(data) for path, data in self.snapshot().items()}
        self._marks = self._scan()

    def enter(self) -> None:
        """Make it the current directory: own tools work in it."""
        os.chdir(self.root)

    def expect(self) -> None:
        """A command comes to work here as an agent: what it leaves running is ours to find and to end."""
        self._groups.expected = True

    def normal(self, path: str) -> str:
        """As in memory; an absolute path that lies in the root is made relative."""
        if path.startswith("/") and "\0" not in path:
            plain = os.path.normpath(path)
            if inside(plain, self._top):
                return relative(plain[len(self._top) + 1 :])
        return relative(path)

    def paths(self) -> list[str]:
        return sorted(self._walk(TOP))

    def snapshot(self) -> dict[str, bytes]:
        """As in memory. What is no readable file of the workspace - a link that leads out, a pipe - is
        there with a sentence that says so."""
        return {path: self._seen(path) for path in self.paths()}

    def diff(self) -> dict[str, str]:
        now = {path: digest(data) for path, data in self.snapshot().items()}
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
        """Found by looking: what commands and the agent's own code changed is told too."""
        before, self._marks = self._marks, self._scan()
        now = self._marks
        return tuple(sorted(path for path in {*before, *now} if before.get(path) != now.get(path)))

    def close(self) -> None:
        """Kill what still runs and remove what we made."""
        self._groups.close()
        shutil.rmtree(self._side, ignore_errors=True)
        if self._side.exists():
            _open_up(self._side)
            shutil.rmtree(self._side, ignore_errors=True)

    def run(self, command: str, seconds: float, cancelled: Event | None = None) -> Ended:
        """A shell command for the agent; blocks for at most `seconds` of real time.

        It runs where the last one ended, as in one shell: a `cd` lasts. One that is killed, or ends outside
        the root, leaves no folder behind: the next runs where it began, or in the root.
        """
        environment, left = self._environment(), self._side / "left"
        left.unlink(missing_ok=True)
        told = shlex.quote(f"pwd -P >{shlex.quote(str(left))}")
        begun = self._folder_now if os.path.isdir(self._folder_now) else self._top
        ended = self._groups.run(
            ["/bin/sh", "-c", f"trap {told} EXIT; {command}"], Path(begun), environment, seconds, cancelled
        )
        with suppress(OSError):
            ended_in = left.read_text(errors="replace").removesuffix("\n")
            self._folder_now = ended_in if inside(ended_in, self._top) else self._top
        return Ended(ended.exit, self._plain(ended.output))

    def leave(self) -> bool:
        """As if the shell had been started anew. False when it stood in the root anyway."""
        left, self._folder_now = self._folder_now, self._top
        return left != self._top

    def check(self, argv: Sequence[str] | str, seconds: float) -> dict[str, Any]:
        """A grader's command: `{"argv", "exit", "output"}`; 127 when not found, 124 past its time."""
        words = ["/bin/sh", "-c", argv] if isinstance(argv, str) else list(argv)
        shown = argv if isinstance(argv, str) else words
        try:
            ended = self._groups.run(words, self.root, self._environment(), seconds)
        except (FileNotFoundError, PermissionError):
            return {"argv": shown, "exit": NOT_FOUND, "output": f"{words[0]}: command not found\n"}
        output = self._plain(ended.output)
        if ended.exit is None:
            return {
                "argv": shown,
                "exit": TIMED_OUT,
                "output": f"{output}[timed out after {seconds:g} seconds]\n",
            }
        return {"argv": shown, "exit": ended.exit, "output": output}

    def processes(self) -> list[int]:
        return self._groups.members()

    def _environment(self) -> dict[str, str]:
        """Nothing of the caller's environment: no secrets, and the same on every machine."""
        home, tmp, bin = self._side / "home", self._side / "tmp", self._side / "bin"
        with self._beside:
            if not bin.exists():
                for folder in (home, tmp, bin):
                    folder.mkdir()
                for name in ("python", "python3"):
                    # A script and not a link: a link would lose the environment that the interpreter is of.
                    (bin / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
                    (bin / name).chmod(0o755)
        return {
            "PATH": f"{bin}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(home),
            "TMPDIR": str(tmp),
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
        }

    def _plain(self, output: str) -> str:
        """Without the name of a folder of ours, which is another one in every trial: as seen from the root."""
        if not inside(self._top, str(self._side)):
            return output
        return output.replace(self._top + "/", "").replace(self._top, ".").replace(str(self._side), "..")

    def _note(self, *paths: str) -> None:
        """`touched` looks for itself; here another hand's change is taken as seen."""
        if not self._others:
            return
        for path in paths:
            self._absorb(path)

    def _absorb(self, path: str) -> None:
        for known in [known for known in self._marks if inside(known, path)]:
            del self._marks[known]
        if os.path.lexists(self._link(path)):
            self._marks.update(self._scan(path))

    def hide(self, path: str) -> None:
        super().hide(path)
        self._absorb(self.normal(path))

    def cover(self, path: str, by: str = "directory") -> None:
        super().cover(path, by)
        self._absorb(self.normal(path))

    def show(self, path: str) -> None:
        super().show(path)
        self._absorb(self.normal(path))

    def _at(self, path: str) -> str:
        """Where the path leads, links followed. Raises PermissionError when that is outside."""
        real = os.path.realpath(os.path.join(self._top, path))
        if not inside(real, self._top):
            raise failure(errno.EACCES, path)
        return real

    def _link(self, path: str) -> str:
        """The path itself, not what it links to; only the folders above are followed."""
        if path == TOP:
            return self._top
        return os.path.join(self._at(parent(path)), path.rpartition("/")[2])

    def _exists(self, path: str) -> bool:
        return os.path.lexists(self._link(path))

    def _kind(self, path: str) -> Kind | None:
        try:
            mode = os.stat(self._at(path)).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _renamed(error, path) from None
        if stat.S_ISDIR(mode):
            return "folder"
        return "file" if stat.S_ISREG(mode) else "special"

    def _get(self, path: str) -> bytes:
        with _at_path(path), open(self._at(path), "rb") as file:
            return file.read()

    def _size(self, path: str) -> int:
        return os.stat(self._at(path)).st_size

    def _put(self, path: str, data: bytes) -> None:
        self._store(path, data, "wb")

    def _add(self, path: str, data: bytes) -> None:
        self._store(path, data, "ab")

    def _store(self, path: str, data: bytes, mode: str) -> None:
        place = self._at(path)
        with _at_path(path):
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, mode) as file:
                file.write(data)

    def _folder(self, path: str) -> None:
        with _at_path(path):
            os.makedirs(self._at(path), exist_ok=True)

    def _drop(self, path: str) -> None:
        place = self._link(path)
        with _at_path(path):
            if os.path.isdir(place) and not os.path.islink(place):
                shutil.rmtree(place)
            else:
                os.unlink(place)

    def _shift(self, source: str, destination: str) -> None:
        place, target = self._link(source), self._link(destination)
        with _at_path(source):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.replace(place, target)

    def _names(self, path: str) -> list[str]:
        with _at_path(path), os.scandir(self._at(path)) as entries:
            return [entry.name + "/" if self._is_folder(entry) else entry.name for entry in entries]

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        try:
            return entry.is_dir() and inside(os.path.realpath(entry.path), self._top)
        except OSError:  # a link that leads round in a circle
            return False

    def _under(self, path: str) -> list[str]:
        place = self._link(path)
        return list(self._walk(path)) if os.path.isdir(place) and not os.path.islink(place) else [path]

    def _walk(self, path: str) -> Iterator[str]:
        """Everything below a folder that is no folder; links to folders are not followed."""
        top = self._at(path)
        head = "" if path == TOP else path + "/"
        for folder, folders, names in os.walk(top):
            here = head + (os.path.relpath(folder, top) + "/" if folder != top else "")
            links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
            yield from (here + name for name in (*names, *links))

    def _seen(self, path: str) -> bytes:
        try:
            place = self._link(path)
            if os.path.islink(place) and self._outside(path):
                return f"[link to {self._plain(os.readlink(place))}]".encode(errors="replace")
            if not stat.S_ISREG(os.stat(self._at(path)).st_mode):
                return b"[no regular file]"
            return self._get(path)
        except OSError as error:
            return f"[unreadable: {error.strerror}]".encode()

    def _outside(self, path: str) -> bool:
        """Does this link lead to anything but a file of the workspace?"""
        try:
            return not os.path.isfile(self._at(path))
        except PermissionError:
            return True

    def _scan(self, path: str = TOP) -> dict[str, tuple[Any, ...]]:
        """What tells each file from a changed one, without keeping its content."""
        place = self._link(path)
        if _real_folder(place):
            return dict(_marks_below(place, "" if path == TOP else path + "/"))
        with suppress(OSError):  # gone between listing and looking
            return {path: _mark(place, os.lstat(place))}
        return {}

    def _take(self, path: str) -> Path:
        stash = self._side / "stash"
        stash.mkdir(exist_ok=True)
        self._stashes += 1
        kept = stash / str(self._stashes)
        with _at_path(path):
            shutil.move(self._link(path), kept)
        return kept

    def _give(self, path: str, stash: Path) -> None:
        place = self._link(path)
        if not os.path.lexists(place):
            with _at_path(path):
                shutil.move(stash, place)
        elif _real_folder(place) and _real_folder(stash):
            for child in sorted(os.listdir(stash)):
                self._give(f"{path}/{child}", stash / child)


def _real_folder(place: str | Path) -> bool:
    return os.path.isdir(place) and not os.path.islink(place)


def _marks_below(folder: str, head: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _marks_below(entry.path, f"{head}{entry.name}/")
            else:
                with suppress(OSError):
                    yield head + entry.name, _mark(entry.path, entry.stat(follow_symlinks=False))


def _mark(place: str, found: os.stat_result) -> tuple[Any, ...]:
    if stat.S_ISLNK(found.st_mode):
        return ("link", os.readlink(place))
    if not stat.S_ISREG(found.st_mode):
        return ("special", found.st_mode)
    if found.st_size > _HASHED:
        return (found.st_size, found.st_mtime_ns, found.st_ino)
    with open(place, "rb") as file:
        return (digest(file.read()),)


def fast_place() -> str | None:
    """Memory-backed where there is such a place, else wherever temporary files go."""
    return (
        str(SHARED_MEMORY) if SHARED_MEMORY.is_dir() and os.access(SHARED_MEMORY, os.W_OK | os.X_OK) else None
    )


def digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


@contextmanager
def _at_path(path: str) -> Iterator[None]:
    """Errors from below, with the relative path in place of where the folder happens to be."""
    try:
        yield
    except OSError as error:
        raise _renamed(error, path) from None


def _renamed(error: OSError, path: str) -> OSError:
    return failure(error.errno or errno.EIO, path)


def _open_up(folder: str | Path) -> None:
    """Give us back the folders whose rights a command has taken away, so that they can be removed."""
    with suppress(OSError):
        os.chmod(folder, 0o700)
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    _open_up(entry.path)
