"""Regression files, `*.chaos.toml`: one plan on one scenario that must end acceptably, fault fired.

A table `[history]` says in which release of a package the plan was seen to fail and in which it no longer
does: `forge-chaos history` plays it there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forge_chaos.errors import Misuse, near
from forge_chaos.verdict import OUTCOMES

if TYPE_CHECKING:  # it is loaded only when a file is read
    from pydantic import BaseModel

VERSION = 1
MODELS = ("scripted", "own")  # and real ones, as provider:name


@dataclass(frozen=True, slots=True)
class History:
    """A bug that came or went between two releases of `package`.

    `buggy` and `repaired` are neighbouring releases, `ends` is the outcome on the repaired side (that of the
    buggy one is `was` of the file). `requires` are further requirements of the environment, resolved at the
    date of the release; `reference` is where the bug was told. None: not stated.
    """

    package: str
    buggy: str | None = None
    repaired: str | None = None
    ends: str | None = None
    requires: tuple[str, ...] = ()
    reference: str | None = None


@dataclass(frozen=True, slots=True)
class Regression:
    """One file. `hash` is that of the scenario's folder when the file was written, `was` the outcome
    then, for the reader. `model` and `window` as for `run`; None: not stated."""

    path: Path
    scenario: str
    rules: tuple[str, ...]
    seed: int
    agent: str | None = None
    hash: str | None = None
    was: str | None = None
    note: str | None = None
    model: str | None = None
    history: History | None = None
    window: int | None = None

    @property
    def name(self) -> str:
        """What the file is called in tables: its name without the suffix."""
        return self.path.name.removesuffix(".toml").removesuffix(".chaos")

    def home(self, here: Path) -> Path:
        """The folder in which its agent is looked for: `here`; the file's own where only that has it."""
        own = self.path.absolute().parent
        file = (self.agent or "").rpartition(":")[0]
        only_there = file.endswith(".py") and not (here / file).is_file() and (own / file).is_file()
        return own if only_there else here

    def scenarios_dirs(self) -> tuple[str, ...]:
        """The file's own folder where its scenario lies beside it: there it is looked for first."""
        own = self.path.absolute().parent
        return (str(own),) if (own / self.scenario / "scenario.toml").is_file() else ()


def write(regression: Regression) -> Path:
    """Write the file that `read` gives back. Raises Misuse where it cannot be written."""
    lines = [f"version  = {VERSION}"]
    lines += _stated(regression, "agent", "scenario", "hash", "rules", "seed", "model", "window")
    lines.append('expect   = "acceptable"')
    lines += _stated(regression, "was", "note")
    if regression.history is not None:
        lines += ["[history]", *_stated(regression.history, "package", "buggy", "repaired", "ends")]
        if regression.history.requires:
            lines.append(f"with     = {_toml(regression.history.requires)}")
        lines += _stated(regression.history, "reference")
    try:
        regression.path.parent.mkdir(parents=True, exist_ok=True)
        regression.path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise Misuse(
            f"cannot write {regression.path}: {error.strerror or error}. Name another directory."
        ) from None
    return regression.path


def _stated(table: Regression | History, *names: str) -> list[str]:
    """The lines of those keys that have a value."""
    values = {name: getattr(table, name) for name in names}
    return [f"{name:8} = {_toml(value)}" for name, value in values.items() if value is not None]


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
    table = tomlfile.checked(document, _table()).model_dump(exclude={"version", "expect"})
    history = table.pop("history")
    if history is not None:
        if table["was"] not in (None, *OUTCOMES):
            raise Misuse(f"{document.where('was')}: key 'was': {_no_outcome(table['was'])}.")
        history = History(**{**history, "requires": tuple(history["requires"])})
    return Regression(path, **{**table, "rules": tuple(table["rules"])}, history=history)


def _table() -> type[BaseModel]:
    """What may stand in a file."""
    from typing import Annotated, Literal

    from pydantic import AfterValidator, BaseModel, ConfigDict, Field

    def known_outcome(text: str) -> str:
        if text not in OUTCOMES:
            raise ValueError(_no_outcome(text))
        return text

    def known_model(text: str) -> str:
        if text not in MODELS and ":" not in text:
            raise ValueError(f"no model {text!r}.{near(text, MODELS)} Write scripted, own or provider:name")
        return text

    Word = Annotated[str, Field(min_length=1)]

    class HistoryTable(BaseModel):
        model_config = ConfigDict(extra="forbid")
        package: Word
        buggy: Word | None = None
        repaired: Word | None = None
        ends: Annotated[str, AfterValidator(known_outcome)] | None = None
        requires: list[Word] = Field(default=[], alias="with")
        reference: str | None = None

    class RegressionTable(BaseModel):
        model_config = ConfigDict(extra="forbid", protected_namespaces=())
        version: Literal[1]
        scenario: str
        rules: list[str] = Field(min_length=1)
        seed: int = Field(default=1, ge=0)
        agent: str | None = None
        hash: str | None = None
        model: Annotated[str, AfterValidator(known_model)] | None = None
        window: int | None = Field(default=None, ge=1)
        expect: Literal["acceptable"] = "acceptable"
        was: str | None = None
        note: str | None = None
        history: HistoryTable | None = None

    return RegressionTable


def _no_outcome(text: str) -> str:
    return f"no outcome {text!r}.{near(text, OUTCOMES)} Known: {', '.join(OUTCOMES)}"
