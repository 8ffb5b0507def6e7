"""The result as a page and as JSON, for those who were not there."""

from __future__ import annotations

import json
import platform
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forge_chaos.history.border import Border
from forge_chaos.history.cell import Cell
from forge_chaos.regression import Regression

SIDES = ("buggy", "repaired", "newest")


@dataclass(frozen=True, slots=True)
class Result:
    """Cells in the order of files and releases. `paths` are the files as they were named, `command` is what
    made this, `exit` its code."""

    files: Mapping[str, Regression]
    paths: Mapping[str, str]
    cells: tuple[Cell, ...]
    borders: tuple[Border, ...]
    command: str
    times: int
    exit: int
    requires: tuple[str, ...] = ()

    def again(self, cell: Cell) -> str:
        """The command that plays this cell again."""
        words = ["forge-chaos", "history", self.paths[cell.file], "--versions", cell.version]
        history = self.files[cell.file].history
        words += [] if history and history.package == cell.package else ["--package", cell.package]
        for need in self.requires:
            words += ["--with", need]
        return shlex.join(words)

    def to_json(self) -> dict[str, Any]:
        """{"command", "python", "times", "pairs": [...], "cells": [...], "borders": [...], "exit"}."""
        return {
            "command": self.command,
            "python": platform.python_version(),
            "times": self.times,
            "files": [self._file(name) for name in self.files],
            "cells": [{**cell.to_json(), "again": self.again(cell)} for cell in self.cells],
            "borders": [border.to_json() for border in self.borders],
            "exit": self.exit,
        }

    def _file(self, name: str) -> dict[str, Any]:
        file, history = self.files[name], self.files[name].history
        return {
            "file": name,
            "path": self.paths[name],
            "rules": list(file.rules),
            "seed": file.seed,
            "was": file.was,
            "note": file.note,
            "package": history.package if history else None,
            "buggy": history.buggy if history else None,
            "repaired": history.repaired if history else None,
            "ends": history.ends if history else None,
            "with": list(history.requires) if history else [],
            "reference": history.reference if history else None,
        }


def grid(result: Result) -> list[list[str]]:
    """The table, its heading first: a row a file where each has releases of its own, else a row a release."""
    if any(cell.side != "asked" for cell in result.cells):
        sides = [side for side in SIDES if any(cell.side == side for cell in result.cells)]
        rows = [["file", "package", *sides]]
        for name in result.files:
            mine = {str(cell.side): cell for cell in result.cells if cell.file == name}
            package = next((cell.package for cell in mine.values()), "")
            ends = [f"{mine[side].version} {mine[side].word}" if side in mine else "-" for side in sides]
            rows.append([name, package, *ends])
        return rows
    rows = [["release", *result.files]]
    for package, version in dict.fromkeys((cell.package, cell.version) for cell in result.cells):
        mine_by_file = {cell.file: cell for cell in result.cells if cell.version == version}
        words = [mine_by_file[name].word if name in mine_by_file else "" for name in result.files]
        rows.append([f"{package} {version}", *words])
    return rows


def story(cell: Cell) -> list[str]:
    """What convicts a release: why, and the events."""
    return [cell.why, *(f"  {line}" for line in cell.lines)]


def page(result: Result) -> str:
    """The page in Markdown."""
    head, *rows = grid(result)
    lines = [
        "# Real bugs in real releases",
        "",
        "A plan of faults on a scenario, played by the same agent under several releases of a package, each in an",
        "environment with the dependencies of its time. A release is convicted (bad) only where the same agent passes",
        "the same scenario without the plan; where it does not, the cell says control failed, and nothing follows.",
        f"Every cell was played {'once' if result.times == 1 else f'{result.times} times'}, under Python "
        f"{platform.python_version()}. This page is written by",
        "",
        "```sh",
        result.command,
        "```",
        "",
        f"| {' | '.join(head)} |",
        f"|{'|'.join('---' for _ in head)}|",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
    ]
    lines += [line for border in result.borders for line in (border.told(), "")]
    for name in result.files:
        lines += _section(name, result)
    return "\n".join(lines).rstrip("\n") + "\n"


def _section(name: str, result: Result) -> list[str]:
    """One file: what happens, the plan, the ends, and what convicts."""
    file = result.files[name]
    mine = [cell for cell in result.cells if cell.file == name]
    lines = [f"## {name}", ""]
    lines += [f"{file.note[0].upper()}{file.note[1:]}.".replace("..", "."), ""] if file.note else []
    if file.history and file.history.reference:
        lines += [f"Told in {file.history.reference}.", ""]
    lines += [f"- plan: {', '.join(f'`{rule}`' for rule in file.rules)}, seed {file.seed}"]
    for cell in mine:
        side = "" if cell.side == "asked" else f" ({cell.side})"
        lines.append(f"- {cell.package} {cell.version}{side}: {cell.word}. {_why(cell)}".rstrip())
    proofs: dict[tuple[str, ...], list[Cell]] = {}
    for cell in (cell for cell in mine if cell.convicts):
        proofs.setdefault(cell.lines, []).append(cell)
    for proof, cells in proofs.items():
        versions = ", ".join(cell.version for cell in cells)
        lines += ["", f"What convicts {versions}:", "", "```text", *proof, "```", ""]
        lines += ["```sh", result.again(cells[-1]), "```"]
    return [*lines, ""]


def _why(cell: Cell) -> str:
    return " ".join(cell.why.split()).replace("|", "\\|").replace("<", "&lt;")


def as_json(result: Result) -> str:
    return json.dumps(result.to_json(), indent=2, ensure_ascii=False) + "\n"


def convicted(cells: Sequence[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.convicts]
