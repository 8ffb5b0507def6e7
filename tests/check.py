"""Every check of this repository, in one command and with one exit code.

python -m tests.check            the fast part, then the slow part
python -m tests.check --fast     format, lint, types, import layers, fast tests, branch coverage
python -m tests.check --slow     tests that take seconds or start processes, bars, frameworks, languages
python -m tests.check --long     more of the slow ones and all frameworks: before a release
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = sys.executable
LIMIT = 3600  # seconds for one section: what hangs is ended and has failed
LAYERS = "from importlinter.cli import lint_imports_command as main; main(['--no-logo'])"
PYTEST = [PYTHON, "-m", "pytest", "-q"]
BESIDE = ["-n", "2"]  # worker processes


def pure() -> list[str]:
    """The mirror tests of the modules whose branches are counted: see [tool.coverage.run]."""
    counted = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["coverage"]["run"]["include"]
    return [f"tests/test_{Path(module).stem}.py" for module in counted]


FAST: dict[str, list[str]] = {
    "format": [PYTHON, "-m", "ruff", "format", "--check", "."],
    "lint": [PYTHON, "-m", "ruff", "check", "."],
    "types": [PYTHON, "-m", "mypy"],
    "layers": [PYTHON, "-c", LAYERS],
    "tests": [*PYTEST, *BESIDE, "-m", "not slow"],
    "branches": [PYTHON, "-m", "coverage", "run", "-m", "pytest", "-q", "-m", "not slow", *pure()],
    "coverage": [PYTHON, "-m", "coverage", "report"],
}
APART = ["--ignore", "tests/benchmarks"]  # ratios: they want the machine to themselves
# Bugs of real releases, of two frameworks; all of them: `python -m tests.check --long`.
PAIRS = Path("scenarios") / "history"
HISTORY = [
    PAIRS / f"{name}.chaos.toml"
    for name in ("h03_two_unknown_tools", "h09_cancel_from_a_tool", "h11_list_arguments")
]
SLOW: dict[str, list[str]] = {
    "slow tests": [*PYTEST, *BESIDE, "-m", "slow and not long", "--durations", "10", *APART],
    "bars": [*PYTEST, "-m", "slow", "tests/benchmarks"],
    "frameworks": [PYTHON, "-m", "tests.frameworks", "--first"],
    "languages": [PYTHON, "-m", "tests.languages"],
    "history": [PYTHON, "-m", "forge_chaos", "history", *map(str, HISTORY), "--timeout", "120"],
    "litellm": [PYTHON, "-m", "tests.modelserver.through_litellm"],
}

LONG: dict[str, list[str]] = {
    "long tests": [*PYTEST, *BESIDE, "-m", "long"],
    "all history": [PYTHON, "-m", "forge_chaos", "history", str(PAIRS), "--times", "2"],
    "all frameworks": [PYTHON, "-m", "tests.frameworks", "--all"],
}


def run(sections: dict[str, list[str]]) -> list[str]:
    """Run them all, whatever fails; the names of those that failed."""
    failed = []
    for name, command in sections.items():
        say(f"== {name}")
        start = time.monotonic()
        try:
            subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=True, timeout=LIMIT)
            word = "passed"
        except subprocess.SubprocessError:
            word = "FAILED"
            failed.append(name)
        say(f"== {name}: {word} in {time.monotonic() - start:.1f} s\n")
    return failed


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    reader = argparse.ArgumentParser(prog="python -m tests.check", description="Run every check.")
    part = reader.add_mutually_exclusive_group()
    part.add_argument("--fast", action="store_true", help="only the fast part")
    part.add_argument("--slow", action="store_true", help="only the slow part")
    part.add_argument("--long", action="store_true", help="only what neither of them runs")
    asked = reader.parse_args()
    sections = LONG if asked.long else {**({} if asked.slow else FAST), **({} if asked.fast else SLOW)}
    failed = run(sections)
    if failed:
        say(f"FAILED: {', '.join(failed)}")
    say(f"checks: {len(sections) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
