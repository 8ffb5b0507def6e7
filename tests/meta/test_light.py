"""`import forge_chaos` and the command line stay light: what is heavy is loaded by who needs it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.meta.files import ROOT

HEAVY = (
    "hypothesis",
    "jinja2",
    "numpy",
    "openai",
    "pydantic",
    "pydantic_ai",
    "pyfakefs",
    "pytest",
    "rich",
    "scipy",
)
FROZEN = ("nouns", "events", "verdict", "ports", "errors", "natural", "recorded", "notation", "judge")


def loaded(code: str) -> set[str]:
    """Which of the heavy packages a fresh Python has loaded after `code`."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nsys.stdout.write('\\n'.join(sys.modules))"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split()) & set(HEAVY)


def test_what_is_looked_for_can_be_found() -> None:
    assert "pydantic" in loaded("import forge_chaos.registry")


@pytest.mark.parametrize("module", ["forge_chaos", "forge_chaos.cli", "forge_chaos.catalog"])
def test_a_door_loads_nothing_heavy(module: str) -> None:
    assert loaded(f"import {module}") == set()


def test_frozen_and_pure_modules_load_nothing_heavy() -> None:
    assert loaded("; ".join(f"import forge_chaos.{name}" for name in FROZEN)) == set()


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import contextlib, io\nfrom forge_chaos.cli.app import invoke\n"
        "with contextlib.redirect_stdout(io.StringIO()): invoke(['--help'])"
    )
    assert loaded(code) <= {"rich"}  # typer's own
