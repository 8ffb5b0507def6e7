"""TOML files that users write: read, checked against a model, every complaint with file and line.

tomllib keeps no positions, so the line of a key is looked up in the text by its path
(`("variants", 1, "mechanism")`): tables and keys at the start of a line are found exactly, keys of an
inline table are given the line of the key that holds it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from forge_chaos.errors import Misuse, unknown

if TYPE_CHECKING:  # pydantic stays off the cold path
    from pydantic import BaseModel

M = TypeVar("M", bound="BaseModel")
Loc = tuple[str | int, ...]

_NAME = r"""[\w\-]+|"[^"]*"|'[^']*'"""
_HEADER = re.compile(rf"\s*(\[\[?)\s*((?:{_NAME})(?:\s*\.\s*(?:{_NAME}))*)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(rf"\s*((?:{_NAME})(?:\s*\.\s*(?:{_NAME}))*)\s*=")


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file with the line of each of its keys."""

    path: Path
    data: dict[str, Any]
    lines: dict[Loc, int]

    def where(self, *loc: str | int) -> str:
        """`path:line` of that key, or of the nearest key around it that stands in the file."""
        for length in range(len(loc), 0, -1):
            if loc[:length] in self.lines:
                return f"{self.path}:{self.lines[loc[:length]]}"
        return f"{self.path}:{self.lines.get((), 1)}"

    def below(self, *loc: str | int) -> Document:
        """One table of the file as a document of its own, empty where the file has no such table."""
        data: Any = self.data
        for part in loc:
            data = data.get(part, {}) if isinstance(data, dict) else {}
        if not isinstance(data, dict):
            raise Misuse(f"{self.where(*loc)}: {'.'.join(map(str, loc))} must be a table.")
        inner = {key[len(loc) :]: line for key, line in self.lines.items() if key[: len(loc)] == loc}
        return Document(self.path, data, inner)


def read(path: Path) -> Document:
    """The file, parsed. Raises Misuse when it cannot be read or is no TOML."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Misuse(f"{path}: cannot be read: {error.strerror}.") from None
    return parse(path, data)


def parse(path: Path, content: bytes) -> Document:
    """`content` as that of `path`. Raises Misuse when it is no TOML."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Misuse(f"{path}:{line}: is no UTF-8 text; TOML files are UTF-8.") from None
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"^(.*) \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
        line = int(found[2]) if found and found[2] else text.count("\n") + 1
        raise Misuse(f"{path}:{line}: bad TOML: {found[1] if found else error}.") from None
    return Document(path, data, _lines(text))


def _lines(text: str) -> dict[Loc, int]:
    found: dict[Loc, int] = {}
    table: Loc = ()
    counts: dict[Loc, int] = {}
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        if fence:  # inside a multi-line string nothing is a key
            fence = "" if line.count(fence) % 2 else fence
            continue
        if header := _HEADER.match(line):
            table = _inside(_names(header[2]), counts)
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                found.setdefault(table, number)
                table = (*table, counts[table])
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            names = _names(key[1])
            for length in range(1, len(names) + 1):
                found.setdefault((*table, *names[:length]), number)
        fence = next((mark for mark in ('"""', "'''") if line.count(mark) % 2), "")
    return found


def _names(dotted: str) -> tuple[str, ...]:
    return tuple(name.strip("\"'") for name in re.findall(_NAME, dotted))


def _inside(names: tuple[str, ...], counts: dict[Loc, int]) -> Loc:
    """`variants.params` is below the last `[[variants]]` that was opened."""
    loc: Loc = ()
    for place, name in enumerate(names):
        loc = (*loc, name)
        if place < len(names) - 1 and loc in counts:
            loc = (*loc, counts[loc])
    return loc


def checked(document: Document, model: type[M], way: str = "") -> M:
    """The file's content as `model`. Raises Misuse for the first thing that is wrong with it.

    An unknown key is told with its near miss and the keys that exist there.
    """
    from pydantic import ValidationError

    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        # An unknown key is the likelier slip, and often the reason why another one is missing.
        errors = sorted(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
    first = errors[0]
    loc = tuple(part for part in first["loc"] if not (isinstance(part, str) and "[" in part))
    where = document.where(*loc)
    if first["type"] == "extra_forbidden":
        raise unknown("key", str(loc[-1]), _keys(model, loc[:-1]), where, way)
    name = ".".join(str(part) for part in loc)
    if first["type"] == "missing":
        raise Misuse(f"{where}: key {name!r} is missing. Keys: {', '.join(_keys(model, loc[:-1]))}.")
    said = first["msg"].removeprefix("Value error, ")
    raise Misuse(f"{where}: key {name!r}: {said} (it is {_short(first.get('input'))}).")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _keys(model: type[BaseModel], loc: Sequence[str | int]) -> list[str]:
    """The keys that exist at `loc` below `model`."""
    for part in loc:
        if isinstance(part, str) and part in model.model_fields:
            inner = _model_in(model.model_fields[part].annotation)
            if inner is None:
                return []
            model = inner
    return sorted(field.alias or name for name, field in model.model_fields.items())


def _model_in(annotation: Any) -> type[BaseModel] | None:
    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model_in(part))), None)
