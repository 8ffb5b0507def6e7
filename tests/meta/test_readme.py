"""What README.md says is tried out: files are written, commands run in their order, tables compared."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from forge_chaos import catalog
from forge_chaos.notation import parse
from forge_chaos.verdict import OUTCOMES, Outcome
from tests.meta import readme
from tests.meta.readme import ROOT

INSTALLS = [command.line for command in readme.commands() if command.line.startswith("python3 -m venv ")]


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """One command in `folder`, with `forge-chaos` and `pytest` of this environment and no model from outside."""
    bin = folder / "bin"
    bin.mkdir(exist_ok=True)
    for name, module in (("forge-chaos", "forge_chaos"), ("pytest", "pytest")):
        door = bin / name
        door.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        door.chmod(0o755)
    environment = {key: value for key, value in os.environ.items() if key != "FORGE_CHAOS_MODEL"}
    environment |= {"PATH": f"{bin}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
def test_every_command_ends_as_it_says(tmp_path: Path) -> None:
    wrong, ran = [], 0
    commands = iter(readme.commands())
    for block in readme.blocks():
        if block.file is not None:
            path = tmp_path / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        for _ in block.text.splitlines() if block.language == "sh" else ():
            command = next(commands)
            if command.line in INSTALLS:
                continue
            done = shell(command.line, tmp_path)
            ran += 1
            if done.returncode != command.code:
                wrong.append(f"{command.line}: exit {done.returncode}, not {command.code}\n{done.stderr}")
            elif command.line.startswith("forge-chaos run") and command.code == 1:
                last = done.stdout.rstrip().splitlines()[-1]
                if not last.startswith("forge-chaos replay "):
                    wrong.append(f"{command.line}: ends in {last!r}")
    assert wrong == []
    assert ran > 15


@pytest.mark.slow
def test_the_time_limit_that_the_page_names_repairs_the_agent(tmp_path: Path) -> None:
    (source,) = (block.text for block in readme.blocks() if block.file == "my_agent.py")
    call = '                value = await tools.call(name, arguments, id=call["id"])\n'
    assert call in source
    limited = f"                async with asyncio.timeout(60):\n    {call}"
    (tmp_path / "my_agent.py").write_text("import asyncio\n" + source.replace(call, limited))
    assert "async with asyncio.timeout(60):" in readme.README.read_text(encoding="utf-8")
    done = shell(
        "forge-chaos run --agent my_agent.py:agent --scenarios sum_orders --faults timeout", tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_block_is_of_a_kind_that_is_tried() -> None:
    for block in readme.blocks():
        assert block.language in ("sh", "python", "toml", "text"), block.text
        assert block.language not in ("python", "toml") or block.file, f"no file name: {block.text}"


def test_ci_runs_both_install_commands_word_for_word() -> None:
    assert len(INSTALLS) == 2
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for line in INSTALLS:
        assert f'"{line}"\n' in script


def test_every_rule_of_the_table_can_be_read_and_exists() -> None:
    rules = readme.column("rule")
    assert len(rules) >= 6
    known = catalog.faults()
    for text in rules:
        catalog.resolve(parse(text), known)


def test_the_outcomes_are_all_there_in_their_order() -> None:
    assert tuple(readme.column("outcome")) == OUTCOMES
    assert get_args(Outcome) == OUTCOMES


def test_the_exit_codes_are_those_of_the_errors() -> None:
    from forge_chaos.errors import Broken, Inconclusive, Misuse

    assert readme.column("code") == ["0", "1", "2", "3", "4"]
    assert (Inconclusive.exit, Broken.exit, Misuse.exit) == (2, 3, 4)
