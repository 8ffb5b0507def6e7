"""A package index of our own on the loopback, and in it a small package in releases good and bad.

`tillkit` sums up a file; what differs between its releases is what it does when the file cannot be read. What
forge-chaos itself needs is there under its name, empty but for the path to where the running one has it.
"""

from __future__ import annotations

import json
import re
import sysconfig
import threading
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

from forge_chaos.history import environment

GOOD = 'return "FAILED: " + str(error)'
BAD = 'return "DONE"'
CRASH = "raise"
HANG = "import time; time.sleep(600)"
# Every second time that it is asked, whatever process asks.
UNSTEADY = (
    'seen = pathlib.Path(__file__).with_name("seen"); '
    "odd = not seen.exists(); seen.touch() if odd else seen.unlink(); "
    'return "DONE" if odd else "FAILED: " + str(error)'
)
TILL = """\
import pathlib

{start}


async def total(tools):
    try:
        text = await tools.call("read_file", {{"path": "orders.csv"}})
    except Exception as error:
        {trouble}
    numbers = [int(line.split(",")[1]) for line in text.splitlines()[1:-1]]
    await tools.call("write_file", {{"path": "total.txt", "text": str(sum(numbers))}})
    return "DONE"
"""
AGENT = """\
import tillkit


async def agent(task, tools):
    return await tillkit.total(tools)
"""
RULE = "missing_file.never@1..:read_file(orders.csv)"


@dataclass(frozen=True, slots=True)
class Wheel:
    """One file of the index."""

    package: str
    version: str
    uploaded: str
    files: Mapping[str, str] = field(default_factory=dict)
    needs: Sequence[str] = ()
    yanked: bool = False

    @property
    def name(self) -> str:
        return f"{self.package.replace('-', '_')}-{self.version}-py3-none-any.whl"

    def content(self) -> bytes:
        info = f"{self.package.replace('-', '_')}-{self.version}.dist-info"
        about = ["Metadata-Version: 2.1", f"Name: {self.package}", f"Version: {self.version}"]
        about += [f"Requires-Dist: {need}" for need in self.needs]
        kind = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        files = {**self.files, f"{info}/METADATA": "\n".join(about) + "\n", f"{info}/WHEEL": kind}
        record = "".join(
            f"{name},sha256={_digest(text)},{len(text.encode())}\n" for name, text in files.items()
        )
        files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n"
        made = BytesIO()
        with ZipFile(made, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        return made.getvalue()


def _digest(text: str) -> str:
    return urlsafe_b64encode(sha256(text.encode()).digest()).rstrip(b"=").decode()


def till(
    version: str,
    trouble: str = GOOD,
    start: str = "import coin",
    needs: Sequence[str] = ("coin",),
    yanked: bool = False,
) -> Wheel:
    """A release of tillkit, uploaded in the order of their numbers."""
    minutes = sum(int(part) * 60 ** (1 - at) for at, part in enumerate(re.findall(r"\d+", version)[:2]))
    day = f"2025-03-{1 + minutes // 600:02}T{minutes // 60 % 24:02}:{minutes % 60:02}:00.5Z"
    return Wheel(
        "tillkit", version, day, {"tillkit.py": TILL.format(start=start, trouble=trouble)}, needs, yanked
    )


def wheels() -> list[Wheel]:
    """All that is there. Release 1.2 cannot be installed; 1.3 to 1.5 lie; then each has a trouble of its own."""
    paths = "".join(f"{sysconfig.get_path(kind)}\n" for kind in ("purelib", "platlib"))
    names = [re.split(r"[^\w.-]", need)[0] for need in environment.needs()]
    ours = [Wheel(name, "9999", "2024-01-01T00:00:00Z") for name in names]
    return [
        *ours[1:],
        Wheel(names[0], "9999", "2024-01-01T00:00:00Z", {"outside.pth": paths}),
        Wheel("coin", "1.0", "2024-01-01T00:00:00Z", {"coin.py": "WORTH = 1\n"}),
        Wheel("coin", "2.0", "2026-01-01T00:00:00Z", {"coin.py": "raise RuntimeError('a later coin')\n"}),
        till("1.0"),
        till("1.1"),
        till("1.2", needs=("coin", "never-heard-of")),
        till("1.3", BAD),
        till("1.4", BAD),
        till("1.5", BAD),
        till("1.6a1", BAD),
        till("1.6"),
        till("1.7", yanked=True),
        till("1.8"),
        till("2.0", start='raise ImportError("no till in this release")'),
        till("2.1", HANG),
        till("2.2", UNSTEADY),
        till("2.3", CRASH),
        till("2.4", start="import time; time.sleep(600)"),
        till("2.5"),
    ]


@contextmanager
def served(all: Sequence[Wheel], html: bool = False) -> Iterator[str]:
    """The index with these files, as its address; `html`: it is an old one, without pages in JSON."""
    pages: dict[str, list[Mapping[str, object]]] = {}
    files = {wheel.name: wheel.content() for wheel in all}
    for wheel in all:
        pages.setdefault(wheel.package, []).append(
            {
                "filename": wheel.name,
                "url": f"/files/{wheel.name}",
                "hashes": {"sha256": sha256(files[wheel.name]).hexdigest()},
                "upload-time": wheel.uploaded,
                "yanked": wheel.yanked,
            }
        )

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path.strip("/").rpartition("/")[2]
            if self.path.startswith("/files/"):
                self._send(files.get(found), "application/octet-stream")
            else:
                page = {"meta": {"api-version": "1.1"}, "name": found, "files": pages.get(found)}
                text = json.dumps(page).encode() if found in pages else None
                text = b"<!DOCTYPE html>" if html else text
                self._send(text, "text/html" if html else "application/vnd.pypi.simple.v1+json")

        def _send(self, content: bytes | None, kind: str) -> None:
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content or b"")

        do_HEAD = do_GET  # uv looks at a file before it takes it

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/simple"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def kept(folder: Path, name: str = "till", rule: str = RULE, **history: str) -> Path:
    """A regression file about tillkit in that folder, its agent beside it."""
    (folder / "agents").mkdir(parents=True, exist_ok=True)
    (folder / "agents" / "summing.py").write_text(AGENT)
    stated = {"package": "tillkit", **history}
    lines = [
        "version = 1",
        'agent = "agents/summing.py:agent"',
        'scenario = "sum_orders"',
        f"rules = ['{rule}']",
        'was = "false_success"',
        'note = "it says done when the file is gone"',
        "[history]",
        *(f'{key} = "{value}"' for key, value in stated.items()),
    ]
    path = folder / f"{name}.chaos.toml"
    path.write_text("\n".join(lines) + "\n")
    return path
