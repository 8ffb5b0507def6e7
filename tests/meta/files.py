"""The files that belong to this repository, for conventions that hold in each of them."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "forge_chaos"
MADE = {"__pycache__", "build", "dist", "bin"}


@cache
def ours() -> tuple[Path, ...]:
    """Everything that git tracks, or would; in a copy without git, all that does not lie in a hidden
    folder, in a run's or in what a tool has made."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        found = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        found = [path for path in ROOT.rglob("*") if not _made(path.relative_to(ROOT).parts)]
    return tuple(sorted(path for path in found if path.is_file()))


def _made(parts: tuple[str, ...]) -> bool:
    hidden = any(part.startswith(".") and part not in (".ci", ".gitignore") for part in parts)
    run = parts[0] == "reports" and len(parts) > 2
    return hidden or run or any(part in MADE or part.endswith(".egg-info") for part in parts)


def python(folder: Path = ROOT) -> list[Path]:
    """Our Python files below `folder`."""
    return [path for path in ours() if path.suffix == ".py" and path.is_relative_to(folder)]


def name(path: Path) -> str:
    """The path from the root of the repository, as messages show it."""
    return path.relative_to(ROOT).as_posix()
