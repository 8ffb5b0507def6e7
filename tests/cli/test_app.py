"""The commands, their options and their help."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge_chaos import __version__
from forge_chaos.cli.app import invoke
from forge_chaos.errors import Misuse
from tests.cli.door import door

COMMANDS = ("run", "replay", "report", "list", "show", "inspect")
OPTIONS = (
    "--agent", "--adapter", "--faults", "--plan", "--scenarios", "--scenarios-dir", "--faults-dir", "--model",
    "--persona", "--trials", "--seed", "--max-trials", "--fail-under", "--min-clean", "--keep-traces", "--out",
    "--resume", "--json", "--workspace", "--yes",
)  # fmt: skip


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_the_commands_are_named(words: tuple[str, ...], tmp_path: Path) -> None:
    done = door(tmp_path, *words)
    assert (done.code, done.err) == (0, "")
    for command in COMMANDS:
        assert f"\n  {command} " in done.out
    assert "..." not in done.out.replace("[ARGS]...", ""), "a summary that is cut tells nothing"


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("word", ["--help", "-h"])
def test_each_command_explains_itself(command: str, word: str, tmp_path: Path) -> None:
    done = door(tmp_path, command, word)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: forge-chaos {command}")
    assert max(map(len, done.out.splitlines())) <= 80
    for python in ("list[Path]", "range>", "Optional", "None"):
        assert python not in done.out


def test_run_has_every_option(tmp_path: Path) -> None:
    done = door(tmp_path, "run", "--help")
    for option in OPTIONS:
        assert f"\n  {option} " in done.out


def test_the_version(tmp_path: Path) -> None:
    assert door(tmp_path, "--version").out == f"forge-chaos {__version__}\n"


def test_the_codes_are_explained(tmp_path: Path) -> None:
    text = " ".join(door(tmp_path, "run", "--help").out.split())
    assert "Exit: 0 pass, 1 fail, 2 inconclusive, 3 forge-chaos failed, 4 misuse." in text


def test_a_usage_error_is_a_misuse_with_the_usage() -> None:
    with pytest.raises(Misuse, match=r"(?s)--nothing.*\nUsage: forge-chaos run"):
        invoke(["run", "--nothing"])
