"""Environments of frameworks: one each, beside the checkout's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".frameworks"
KITS = ROOT / "tests" / "conformance" / "frameworks"
SHARED = ("__init__", "conftest", "kit", "play", "wire")
FIRST = ("langgraph", "pydantic-ai", "openai-agents", "smolagents", "autogen", "mcp")
EXTRAS = {"fastmcp": "mcp"}  # where the extra has another name
LIMIT = 1800  # seconds for one step: what hangs is ended and has failed


def names() -> list[str]:
    """The frameworks that have a kit, by the name of their extra."""
    files = [path.stem for path in sorted(KITS.glob("*.py"))]
    return [
        stem.replace("_", "-") for stem in files if stem not in SHARED and not stem.startswith(("test_", "_"))
    ]


def python(name: str) -> Path:
    return HOME / name / "bin" / "python"


def made(name: str, fresh: bool = False) -> Path:
    """The Python of the framework's environment, with this checkout and the extra of that name in it."""
    if fresh or not python(name).exists():
        uv("venv", "--clear", "--python", sys.executable, str(HOME / name))
    extra = EXTRAS.get(name, name)
    uv("pip", "install", "--python", str(python(name)), "-e", f"{ROOT}[{extra}]", "pytest-xdist")
    return python(name)


def uv(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "uv", "--quiet", *words], check=True, timeout=LIMIT, cwd=ROOT)


def passes(name: str, fast: bool = False) -> bool:
    """Did its conformance tests and the contract tests of its seams pass?"""
    own = ROOT / "tests" / "adapters" / f"test_{name.replace('-', '_')}.py"
    words = [str(KITS), *([str(own)] if own.exists() else []), "-p", "no:cacheprovider", "-q"]
    chosen = ["-m", "not slow"] if fast else []
    command = [str(python(name)), "-m", "pytest", *words, *chosen]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "CONFORMANCE_OF": name},
        stdin=subprocess.DEVNULL,
        timeout=LIMIT,
        check=False,
    )
    return done.returncode == 0
