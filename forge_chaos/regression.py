"""Regression files, `*.chaos.toml`: one plan on one scenario that must end acceptably, fault fired."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forge_chaos.errors import Misuse

VERSION = 1


@dataclass(frozen=True, slots=True)
class Regression:
    """One file. `hash` is that of the scenario's folder when the file was written, `was` the outcome
    then, for the reader."""

    path: Path
    scenario: str
    rules: tuple[str, ...]
    seed: int
    agent: str | None = None
    hash: str | None = None
    was: str | None = None
    note: str | None = None


def write(regression: Regression) -> Path:
    """Write the file that `read` gives back. Raises Misuse where it cannot be written."""
    lines = [f"version  = {VERSION}"]
    for name in ("agent", "scenario", "hash", "rules", "seed"):
        value = getattr(regression, name)
        if value is not None:
            lines.append(f"{name:8} = {_toml(value)}")
    lines.append('expect   = "acceptable"')
    for name in ("was", "note"):
        value = getattr(regression, name)
        if value is not None:
            lines.append(f"{name:8} = {_toml(value)}")
    try:
        regression.path.parent.mkdir(parents=True, exist_ok=True)
        regression.path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise Misuse(
            f"cannot write {regression.path}: {error.strerror or error}. Name another directory."
        ) from None
    return regression.path


def _toml(value: str | int | tuple[str, ...]) -> str:
    """A value as TOML has it: its strings are those of JSON, but for DEL and lone surrogates."""
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, int):
        return str(value)
    whole = value.encode("utf-8", "backslashreplace").decode()
    return json.dumps(whole, ensure_ascii=False).replace("\x7f", "\\u007f")


def read(path: Path) -> Regression:
    """The regression in a file. Raises Misuse, with file and line, for anything that is wrong with it."""
    from typing import Literal

    from pydantic import BaseModel, ConfigDict, Field

    from forge_chaos import tomlfile

    if not path.is_file():
        raise Misuse(f"there is no file {str(path)!r}. Name a *.chaos.toml file or RUN_DIR:TRIAL.")
    document = tomlfile.read(path)
    version: Any = document.data.get("version")
    if isinstance(version, int) and version > VERSION:
        raise Misuse(
            f"{document.where('version')}: version {version} was written by a newer forge-chaos; "
            f"this one reads version {VERSION}. Update forge-chaos."
        )

    class RegressionTable(BaseModel):
        model_config = ConfigDict(extra="forbid")
        version: Literal[1]
        scenario: str
        rules: list[str] = Field(min_length=1)
        seed: int = Field(default=1, ge=0)
        agent: str | None = None
        hash: str | None = None
        expect: Literal["acceptable"] = "acceptable"
        was: str | None = None
        note: str | None = None

    table = tomlfile.checked(document, RegressionTable)
    return Regression(
        path,
        table.scenario,
        tuple(table.rules),
        table.seed,
        table.agent,
        table.hash,
        table.was,
        table.note,
    )
