"""Each framework in an environment of its own (they clash), and its conformance tests in there.

python -m tests.frameworks NAME [NAME...]    make or refresh the environment, run the tests of its adapter
python -m tests.frameworks --first           those that CI runs every time
python -m tests.frameworks --all             all of them
python -m tests.frameworks --list            the names

The environments lie in .frameworks/ in the checkout; an existing one is used again. `--fresh` makes it
anew, `--fast` leaves out the tests that play whole suites.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".frameworks"
KITS = ROOT / "tests" / "conformance" / "frameworks"
SHARED = ("__init__", "conftest", "kit", "play", "wire")
FIRST = ("langgraph", "pydantic-ai", "openai-agents", "smolagents", "autogen", "mcp")
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
    uv("pip", "install", "--python", str(python(name)), "-e", f"{ROOT}[{name}]", "pytest-xdist")
    return python(name)


def uv(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "uv", "--quiet", *words], check=True, timeout=LIMIT, cwd=ROOT)


def passes(name: str, fast: bool = False) -> bool:
    """Did its conformance tests and the contract tests of its seams pass?"""
    own = ROOT / "tests" / "adapters" / f"test_{name.replace('-', '_')}.py"
    words = [str(KITS), *([str(own)] if own.exists() else []), "-p", "no:cacheprovider", "-q"]
    chosen = ["-m", "not slow"] if fast else []
    command = [str(python(name)), "-m", "pytest", *words, *chosen]
    return (
        subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, timeout=LIMIT, check=False).returncode
        == 0
    )


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    reader = argparse.ArgumentParser(
        prog="python -m tests.frameworks", description="Conformance of adapters."
    )
    reader.add_argument("names", nargs="*", metavar="NAME", help="frameworks, see --list")
    reader.add_argument("--first", action="store_true", help="those that CI runs every time")
    reader.add_argument("--all", action="store_true", help="all of them")
    reader.add_argument("--list", action="store_true", help="only list the names")
    reader.add_argument("--fresh", action="store_true", help="make the environments anew")
    reader.add_argument("--fast", action="store_true", help="without the tests that play whole suites")
    reader.add_argument("--make", action="store_true", help="only make the environments")
    asked = reader.parse_args()
    if asked.list:
        say("\n".join(names()))
        return 0
    chosen = names() if asked.all else [*(n for n in FIRST if asked.first and n in names()), *asked.names]
    unknown = [name for name in chosen if name not in names()]
    if unknown or not chosen:
        reader.error(
            f"no framework {', '.join(unknown)}. Known: {', '.join(names())}" if unknown else "name one"
        )
    failed = []
    for name in chosen:
        start = time.monotonic()
        say(f"== {name}")
        made(name, asked.fresh)
        good = asked.make or passes(name, asked.fast)
        failed += [] if good else [name]
        say(f"== {name}: {'passed' if good else 'FAILED'} in {time.monotonic() - start:.1f} s\n")
    say(
        f"frameworks: {len(chosen) - len(failed)} passed, {len(failed)} failed{': ' * bool(failed)}{', '.join(failed)}"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
