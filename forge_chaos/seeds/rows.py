"""JSON objects of a file, one array or one object a line, each with the lines on which its keys stand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forge_chaos.errors import Misuse
from forge_chaos.tomlfile import Document, Loc

BLANK = " \t\r\n"
_DECODER = json.JSONDecoder()


def rows(path: Path, what: str = "task") -> list[Document]:
    """The objects of the file, in their order; `what` is what a complaint calls one. Raises Misuse, with the
    line, for what is no such file."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise Misuse(f"{path}: cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise Misuse(f"{path}:{line}: is no UTF-8 text; files of {what}s are UTF-8.") from None
    if not text.strip():
        raise Misuse(f"{path}: holds no {what}. Write a JSON array of {what}s, or one JSON object a line.")
    found = _array(path, text, what) if text.lstrip()[0] == "[" else _lines(path, text, what)
    if not found:
        raise Misuse(f"{path}: holds no {what}: the array is empty.")
    return found


def _array(path: Path, text: str, what: str) -> list[Document]:
    _whole(path, text, 1)
    found: list[Document] = []
    at = _skip(text, text.index("[") + 1)
    while text[at] != "]":
        _, end = _DECODER.raw_decode(text, at)
        found.append(_document(path, text[at:end], _line(text, at), what))
        at = _next(text, end)
    return found


def _lines(path: Path, text: str, what: str) -> list[Document]:
    """One object a line; a file that is one object, over as many lines as it likes, is one task."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip(BLANK)]
    first, opening = lines[0]
    if len(lines) > 1 and opening.strip(BLANK) == "{":
        return [_document(path, text.strip(BLANK), first, what)]
    return [_document(path, line.strip(BLANK), number, what) for number, line in lines]


def _document(path: Path, text: str, line: int, what: str) -> Document:
    value = _whole(path, text, line)
    if not isinstance(value, dict):
        raise Misuse(f"{path}:{line}: a {what} must be a JSON object, not {text[:40]!r}.")
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Misuse(f"{path}:{line}: holds half of a surrogate pair, which is no text.") from None
    known: dict[Loc, int] = {(): line}
    for key, at in _keys(text):
        if (key,) in known:
            raise Misuse(f"{path}:{line + _line(text, at) - 1}: key {key!r} stands there twice.")
        known[(key,)] = line + _line(text, at) - 1
    return Document(path, value, known)


def _whole(path: Path, text: str, line: int) -> Any:
    try:
        return json.loads(text, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise Misuse(f"{path}:{line + error.lineno - 1}: bad JSON: {error.msg}.") from None
    except (ValueError, RecursionError) as error:
        raise Misuse(f"{path}:{line}: bad JSON: {error}.") from None


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _keys(text: str) -> Iterator[tuple[str, int]]:
    """The keys of an object that is known to be sound, each with its place."""
    at = _skip(text, 1)
    while text[at] == '"':
        key, end = _DECODER.raw_decode(text, at)
        yield key, at
        value = _skip(text, _skip(text, end) + 1)  # behind the colon
        _, end = _DECODER.raw_decode(text, value)
        at = _next(text, end)


def _next(text: str, at: int) -> int:
    """The next member, or the bracket that closes."""
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    while text[at] in BLANK:
        at += 1
    return at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
