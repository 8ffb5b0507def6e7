"""Files of targets, read unchanged: agents as commands, with where they start and what is in their environment.

    [{"name": "py", "command": ["python3", "agent.py"], "dir": "agents/py", "env": {"LEVEL": "2"}}, ...]

A target with a `dir` starts there, as it always did; any other starts in the trial's workspace. Either way the
words of its command are found from there, or else from the folder of the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from forge_chaos import tomlfile
from forge_chaos.errors import Misuse, unknown
from forge_chaos.seeds.rows import rows

Filled = Annotated[str, Field(min_length=1)]


class Row(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    name: Filled
    command: Annotated[list[Filled], Field(min_length=1)]
    dir: str | None = None
    env: dict[Filled, str] | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """One agent. `home` is where its words are found; it starts there when it `stays`, else in the workspace."""

    name: str
    words: tuple[str, ...]
    home: Path
    stays: bool
    environment: tuple[tuple[str, str], ...] = ()


def read(path: Path) -> tuple[Target, ...]:
    """The targets of the file, in their order. Raises Misuse, with file and line."""
    found: dict[str, Target] = {}
    for document in rows(path, "target"):
        row = tomlfile.checked(document, Row)
        if row.name in found:
            raise Misuse(f"{document.where('name')}: a target {row.name!r} is there already.")
        home = path.absolute().parent / (row.dir or ".")
        if not home.is_dir():
            raise Misuse(f"{document.where('dir')}: target {row.name!r}: there is no folder {row.dir!r}.")
        stays = bool(row.dir)
        found[row.name] = Target(
            row.name, tuple(row.command), home, stays, tuple(sorted((row.env or {}).items()))
        )
    return tuple(found.values())


def one(place: str) -> Target:
    """The target that `FILE:NAME` names. Raises Misuse."""
    file, colon, name = place.partition(":")
    if not colon or not file or not name:
        raise Misuse(f"cannot read target {place!r}. Write target:FILE:NAME, such as target:targets.json:go.")
    targets = {target.name: target for target in read(Path(file))}
    if name not in targets:
        raise unknown("target", name, targets, file)
    return targets[name]
