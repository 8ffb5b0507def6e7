"""One environment for each release and its requirements, made once and kept."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec
from pathlib import Path
from threading import Event

import forge_chaos
from forge_chaos.errors import Broken, Misuse
from forge_chaos.history import bounded

LIMIT = 1200.0  # seconds for an installation
TOLD = 12  # lines of what uv says about one that failed
ABOUT = "forge-chaos.json"  # in an environment that is whole: what it was made of
CHATTER = ("Using Python ", "Resolved ", "Prepared ")  # what uv says of its progress
UNHEARD = ("VIRTUAL_ENV", "UV_EXCLUDE_NEWER", "UV_INDEX_URL")
MORE = ("model",)  # extras of ours that come along


class NotInstallable(Exception):
    """No environment holds this release with these requirements at its date; the text is uv's."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an environment is made of. `until` is the date at which everything in it is resolved, `python`
    what uv is told to make it of, `ours` the folder of the forge_chaos that plays there."""

    package: str
    version: str
    requires: tuple[str, ...]
    until: str
    index: str
    python: str = sys.executable
    ours: str = str(Path(forge_chaos.__file__).resolve().parent)

    @property
    def key(self) -> str:
        """Equal for environments that may stand for each other."""
        said = {**asdict(self), "index": None, "about": _about(self.python), "needs": needs()}
        text = json.dumps(said, sort_keys=True)
        digest = blake2b(text.encode(), digest_size=8).hexdigest()
        return f"{self.package}-{self.version}-{digest}"


def _about(python: str) -> str:
    """The interpreter of this process by its version: another one under its name makes another environment."""
    return sys.version if python == sys.executable else python


@lru_cache(maxsize=1)
def needs() -> tuple[str, ...]:
    """What forge-chaos itself needs, as it is stated where this one comes from."""
    checkout = Path(forge_chaos.__file__).resolve().parent.parent / "pyproject.toml"
    if checkout.is_file():
        import tomllib

        project = tomllib.loads(checkout.read_text(encoding="utf-8"))["project"]
        more = [need for extra in MORE for need in project["optional-dependencies"][extra]]
        return (*project["dependencies"], *more)
    try:
        stated = requires("forge-chaos") or []
    except PackageNotFoundError:
        raise Broken(
            "this forge-chaos is neither a checkout nor installed: its own needs are unknown."
        ) from None
    wanted = tuple(f'extra == "{extra}"' for extra in MORE)
    parts = [(need.partition(";")[0].strip(), need.partition(";")[2].replace("'", '"')) for need in stated]
    return tuple(need for need, marker in parts if "extra ==" not in marker or marker.strip() in wanted)


def home(environment: Mapping[str, str] = os.environ) -> Path:
    """Where environments are kept when nobody says where."""
    caches = environment.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "forge-chaos" / "history"


@lru_cache(maxsize=1)
def uv() -> tuple[str, ...]:
    """The command that is uv. Raises Misuse where there is none."""
    if find_spec("uv") is not None:
        return (sys.executable, "-m", "uv")
    found = shutil.which("uv")
    if found is None:
        raise Misuse("no uv was found, which makes the environments. pip install 'forge-chaos[history]'")
    return (found,)


def python(place: Path) -> Path:
    """The interpreter of an environment."""
    return place / "bin" / "python"


def made(wanted: Wanted, cache: Path, stopped: Event) -> Path:
    """The folder of the environment, made unless it is kept already.

    Two runs that want the same one wait for each other; whatever is broken off leaves nothing that could be
    taken for whole. Raises NotInstallable, Misuse where the cache cannot be written.
    """
    place = cache / wanted.key
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with _locked(cache / f"{wanted.key}.lock", stopped):
            if not _whole(place):
                shutil.rmtree(place, ignore_errors=True)
                _make(wanted, place, cache / f"{wanted.key}.making", stopped)
    except OSError as error:
        raise Misuse(
            f"cannot write {cache}: {error.strerror or error}. Name another place by --cache."
        ) from None
    return place


def _whole(place: Path) -> bool:
    """Was it made to its end, and does its interpreter still stand where it did?"""
    return (place / ABOUT).is_file() and os.access(python(place), os.X_OK)


def _make(wanted: Wanted, place: Path, making: Path, stopped: Event) -> None:
    shutil.rmtree(making, ignore_errors=True)
    try:
        _uv(wanted, stopped, "venv", "--relocatable", "--python", wanted.python, str(making))
        where = ("--python", str(python(making)), "--exclude-newer", wanted.until)
        what = (f"{wanted.package}=={wanted.version}", *wanted.requires, *needs())
        _uv(wanted, stopped, "pip", "install", *where, *what)
        (packages,) = (making / "lib").glob("python*/site-packages")
        with suppress(FileNotFoundError):
            (packages / "forge_chaos").unlink()
        (packages / "forge_chaos").symlink_to(wanted.ours)
        about = {name: value for name, value in asdict(wanted).items() if name != "index"}
        (making / ABOUT).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
        shutil.rmtree(place, ignore_errors=True)
        making.rename(place)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _uv(wanted: Wanted, stopped: Event, *words: str) -> None:
    outside = {name: value for name, value in os.environ.items() if name not in UNHEARD}
    outside["UV_DEFAULT_INDEX"] = wanted.index
    done = bounded.run([*uv(), "--color", "never", "--no-progress", *words], LIMIT, stopped, outside)
    if done.code is None:
        raise NotInstallable(f"uv did not end within {LIMIT:g} seconds.")
    if done.code:
        said = done.err.replace(wanted.index, "the index").splitlines()
        lines = [line.strip() for line in said if line.strip() and not line.startswith(CHATTER)]
        raise NotInstallable("\n".join(lines[-TOLD:]))


@contextmanager
def _locked(path: Path, stopped: Event) -> Iterator[None]:
    """Alone with what `path` stands for, among all threads and processes."""
    with path.open("w") as seat:
        while True:
            try:
                fcntl.flock(seat, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if stopped.wait(0.1):
                    raise KeyboardInterrupt from None
            except OSError:
                break  # a file system without locks: a second one makes it again, and nothing is torn
        yield
