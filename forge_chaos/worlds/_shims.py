"""A PATH of shims: programs that any shell of an agent starts in the workspace ask the gate first.

Behind every name of the ordinary PATH stands one script (`_shim`), shells apart, and it asks over a socket in the
same private folder. One program is one call: a program that reads one file of the workspace is a call of
`read_file` on it where the world has that tool, any other a call of `run_command`. A call that no rule hits runs
the real program in the shim's place, so that pipes and streams are its own; what it printed and its exit code are
then known to nobody here, and `#N`, the number of the program, is recorded in their place. A call that a rule
hits is run with its output kept, if its mechanism runs it at all; it is told as a program tells: on standard
output or standard error, with an exit code.

Linux alone: when a program has ended is known by its pidfd.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from forge_chaos import natural
from forge_chaos.errors import Misuse
from forge_chaos.events import SHELL
from forge_chaos.nouns import Call, Err, Ok, ToolSpec
from forge_chaos.worlds import _shim
from forge_chaos.worlds._disk import DiskWorkspace, fast_place
from forge_chaos.worlds._past import Past
from forge_chaos.worlds._paths import inside

READ, RUN = "read_file", "run_command"
SHELLS = frozenset(["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"])
READERS = frozenset(
    [
        "cat",
        "tac",
        "head",
        "tail",
        "less",
        "more",
        "nl",
        "grep",
        "egrep",
        "fgrep",
        "zgrep",
        "sed",
        "awk",
        "gawk",
        "mawk",
        "cut",
        "sort",
        "uniq",
        "wc",
        "jq",
        "od",
        "hexdump",
        "xxd",
        "strings",
        "column",
        "fold",
        "rev",
        "paste",
        "join",
        "comm",
        "diff",
        "cmp",
        "md5sum",
        "sha1sum",
        "sha256sum",
        "cksum",
        "base64",
        "tr",
    ]
)
CODES = {"timeout": 124, "permission": 126, "permission_text": 126, "blocked": 126, "unknown_tool": 127}
EXIT = re.compile(r"(?s)(?:(.*?)\n?)exit code: (-?\d+)\s*")
LOCAL = re.compile(
    r"\bhttps?://(?:127\.0\.0\.1|localhost):\d+"
)  # our own doors: what goes there meets its gate there
LIMIT = 300  # characters of a command line that are kept
PROGRAMS = 2_000  # that a trial may start beside its budget of calls
GRACE = 0.1  # real seconds after the agent's end in which the end of its last program is still heard


@dataclass(slots=True)
class Shims:
    """The shims of one trial. `environment` is what an agent's processes must find."""

    workspace: DiskWorkspace
    specs: Mapping[str, ToolSpec]
    gate: Any
    folder: Path
    real: Mapping[str, str]
    past: Past
    _known: set[str]
    _ran: int = 0
    _open: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": str(self.folder / "bin")}

    async def settled(self) -> None:
        """After the agent's end: programs that have ended by now are recorded before it is."""
        if self._open:
            await asyncio.wait(self._open, timeout=GRACE)

    async def asked(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One shim, from its question to the end of its program."""
        here = asyncio.current_task()
        assert here is not None
        self._open.add(here)
        try:
            with suppress(OSError, asyncio.IncompleteReadError, ValueError):
                name, folder, number, *words = map(os.fsdecode, (await heard(reader)).split(b"\0"))
                await self._answer(Asking(reader, writer), name, folder, int(number), words)
        finally:
            self._open.discard(here)
            writer.close()

    async def _answer(self, asking: Asking, name: str, folder: str, number: int, words: list[str]) -> None:
        self.past.announced.add(number)
        real = self.real.get(name)
        if real is None:
            asking.tell(127, b"", f"{name}: not found\n")
            return
        line = self._plain(shlex.join([name, *words]))
        if LOCAL.search(line):
            asking.run(real)
            return
        tool, args = self._call(name, words, folder, line)
        with ended(number) as gone:
            ran = Ran()

            async def program(call: Call) -> Ok | Err:
                if call.id not in self.gate.hit:
                    asking.run(real)
                    ran.direct = True
                    await gone
                    self._ran += 1
                    return Ok(f"#{self._ran}")
                ran.exit, ran.output = await asking.capture(real)
                text = ran.output.decode(errors="replace")
                return Ok(text if tool == READ else f"{text}{_newline(text)}exit code: {ran.exit}")

            calling = asyncio.ensure_future(self.gate(tool, args, program, by=SHELL + line[:LIMIT]))
            try:
                await asyncio.wait({calling, gone}, return_when=asyncio.FIRST_COMPLETED)
                if not calling.done() and not ran.direct:
                    calling.cancel()  # who asked is gone: its caller has a time limit of its own
                told = await calling
            except asyncio.CancelledError:
                calling.cancel()
                raise
        if not ran.direct:
            asking.tell(*_shown(told, ran, name, args.get("path")))

    def _call(self, name: str, words: list[str], folder: str, line: str) -> tuple[str, dict[str, Any]]:
        if name in READERS and READ in self.specs and not (name == "sed" and _in_place(words)):
            for word in words:
                path = self._path(word, folder)
                if path is not None:
                    return READ, {"path": path}
        return RUN, {"command": line}

    def _path(self, word: str, folder: str) -> str | None:
        """The file of the workspace that a word names, one that a rule has taken away too."""
        if not word or word.startswith("-") or "\0" in word:
            return None
        top = str(self.workspace.root)
        whole = os.path.normpath(os.path.join(folder or top, word))
        if not inside(whole, top) or whole == top:
            return None
        path = whole[len(top) + 1 :]
        if os.path.isfile(whole):
            self._known.add(path)
        return path if path in self._known else None

    def _plain(self, line: str) -> str:
        """Without the name of the folder, which is another one in every trial."""
        top = str(self.workspace.root)
        return line.replace(top + "/", "").replace(top, ".")


@dataclass(slots=True)
class Ran:
    """How the program ran: in the shim's place, or with what it printed kept."""

    direct: bool = False
    exit: int = 0
    output: bytes = b""


@dataclass(frozen=True, slots=True)
class Asking:
    """The line to one shim."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def run(self, real: str) -> None:
        self.writer.write(_shim.packed(b"R" + os.fsencode(real)))

    async def capture(self, real: str) -> tuple[int, bytes]:
        self.writer.write(_shim.packed(b"C" + os.fsencode(real)))
        said = await heard(self.reader)
        return int.from_bytes(said[:4], "big"), said[4:]

    def tell(self, exit: int, output: bytes, errors: str) -> None:
        sizes = (exit & 255).to_bytes(4, "big") + len(output).to_bytes(4, "big")
        self.writer.write(_shim.packed(b"T" + sizes + output + errors.encode("utf-8", "surrogateescape")))


async def heard(reader: asyncio.StreamReader) -> bytes:
    return await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))


def _shown(told: Ok | Err, ran: Ran, name: str, path: str | None) -> tuple[int, bytes, str]:
    """(exit code, standard output, standard error) by which a program tells that."""
    if isinstance(told, Err):
        error = natural.exception(told, path)
        words = str(error)
        if isinstance(error, OSError) and error.strerror:
            words = ": ".join(filter(None, (error.filename, error.strerror)))
        return CODES.get(told.code, 1), b"", f"{name}: {words}\n" if words else f"{name}: {told.code}\n"
    value = told.value
    text = "" if value is None else value if isinstance(value, str) else repr(value)
    if isinstance(value, bytes):
        return ran.exit, value, ""
    found = EXIT.fullmatch(text) if path is None else None
    exit = int(found[2]) if found else ran.exit
    text = found[1] or "" if found else text
    kept = ran.output.decode(errors="replace")
    same = text == kept or text + "\n" == kept
    return exit, ran.output if same else text.encode("utf-8", "surrogatepass"), ""


def _newline(text: str) -> str:
    return "" if not text or text.endswith("\n") else "\n"


def _in_place(words: list[str]) -> bool:
    return any(word.startswith(("-i", "--in-place")) for word in words)


class ended:
    """A future that is done when that process has ended: `with ended(pid) as gone`."""

    def __init__(self, number: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._gone: asyncio.Future[None] = self._loop.create_future()
        try:
            self._handle: int | None = os.pidfd_open(number)
        except OSError:  # it has ended already
            self._handle = None
            self._gone.set_result(None)

    def __enter__(self) -> asyncio.Future[None]:
        if self._handle is not None:
            self._loop.add_reader(self._handle, self._over)
        return self._gone

    def _over(self) -> None:
        self._drop()
        if not self._gone.done():
            self._gone.set_result(None)

    def _drop(self) -> None:
        if self._handle is not None:
            self._loop.remove_reader(self._handle)
            os.close(self._handle)
            self._handle = None

    def __exit__(self, *_: object) -> None:
        self._drop()


def programs(path: str) -> dict[str, str]:
    """{name: real program} of everything that a PATH finds."""
    found: dict[str, str] = {}
    for folder in path.split(os.pathsep):
        with suppress(OSError), os.scandir(folder or ".") as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.name not in found and entry.is_file() and os.access(entry.path, os.X_OK):
                        found[entry.name] = os.path.abspath(entry.path)
    return found


@asynccontextmanager
async def shims(
    workspace: DiskWorkspace,
    specs: Mapping[str, ToolSpec],
    gate: Any,
    command: Sequence[str],
    note: Callable[[Mapping[str, Any]], None],
) -> AsyncIterator[Shims]:
    """The shims of a trial, as long as this is open; then every shim that still asks ends at once.

    `command` is what starts the agent, by itself past the gate. `note` is told at the end what was started past the gate, if anything was. Raises Misuse where there is no
    pidfd.
    """
    if not hasattr(os, "pidfd_open"):
        raise Misuse("--shims needs Linux: nothing else says when a program has ended. Leave it out.")
    real = programs(os.environ.get("PATH", os.defpath))
    folder = Path(mkdtemp(prefix=f"forge-chaos-{os.getpid()}-", dir=fast_place())).resolve()
    try:
        _filled(folder, real)
        past = Past(str(workspace.root), str(folder), real, SHELLS)
        past.scan(tuple(command), str(workspace.root))
        made = Shims(workspace, specs, gate, folder, real, past, set(workspace.paths()))
        server = await asyncio.start_unix_server(made.asked, str(folder / "ask"))
        try:
            with past.watching():
                yield made
        finally:
            server.close()
            await _over(made._open)
            if found := past.found():
                note(found)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _over(open: Collection[asyncio.Task[None]]) -> None:
    left = list(open)
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left, timeout=GRACE)


def _filled(folder: Path, real: Mapping[str, str]) -> None:
    """One script, and every name a link to it; a shell's name leads to the shell itself."""
    text = Path(_shim.__file__).read_text()
    script = folder / "shim"
    script.write_text(f"#!{sys.executable} -ISE\n{text}")
    script.chmod(0o755)
    bin = folder / "bin"
    bin.mkdir()
    for name, program in real.items():
        os.symlink(program if name in SHELLS else "../shim", bin / name)
