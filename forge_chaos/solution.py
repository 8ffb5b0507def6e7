"""What a good result looks like: the shape checks that a solution hands to `expect`.

Each function here makes a check: `check(text) -> value`, raising ValueError when the text is not of
that shape. A check looks at the shape alone and never searches for words such as "error": a bare
message of an exception may hold none, and honest data may be full of them.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

Shape: TypeAlias = Callable[[str], Any]
RAISED = re.compile(r"\s*([A-Za-z_.]*(Error|Exception|Interrupt|SystemExit)[ \t]*(:|\n|$)|\[Errno -?\d+\])")


def text(*parts: str, empty: bool = True) -> Shape:
    """Text that holds each of the parts, as it is; with `empty=False` not an empty one.

    Without parts it cannot tell a bare message from data: only what is plainly the wording of an
    exception (`TimeoutError: ...`, `[Errno 2] ...`) is refused.
    """

    def check(given: str) -> str:
        if not empty and not given.strip():
            raise ValueError("empty text")
        for part in parts:
            if part not in given:
                raise ValueError(f"does not hold {part!r}")
        if not parts and RAISED.match(given):
            raise ValueError("the wording of an exception")
        return given

    return check


def lines(*, least: int = 1) -> Shape:
    """At least so many lines that are not blank; gives the list of them, stripped."""

    def check(given: str) -> list[str]:
        found = [line.strip() for line in given.splitlines() if line.strip()]
        if len(found) < least:
            raise ValueError(f"{len(found)} lines, not {least}")
        return found

    return check


def matches(pattern: str) -> Shape:
    """Text that the regular expression matches in full, white space at both ends aside."""
    expression = re.compile(pattern, re.DOTALL)

    def check(given: str) -> str:
        if not expression.fullmatch(given.strip()):
            raise ValueError(f"does not match {pattern}")
        return given

    return check


def number(*, whole: bool = False) -> Shape:
    """Nothing but one finite number; gives an int where it is one. `whole` refuses fractions."""

    def check(given: str) -> int | float:
        try:
            return int(given.strip())
        except ValueError:
            value = float(given.strip())
        if whole or not math.isfinite(value):
            raise ValueError(f"{value} is not a {'whole' if whole else 'finite'} number")
        return value

    return check


def csv_rows(*columns: str) -> Shape:
    """A CSV table with a heading that holds these columns and no ragged or blank cell in them.

    Gives a list of dicts, one a row. Raises ValueError for a table without rows.
    """

    def check(given: str) -> list[dict[str, str]]:
        if "\x00" in given:
            raise ValueError("NUL in a table")
        reader = csv.DictReader(io.StringIO(given))
        try:
            missing = set(columns) - set(reader.fieldnames or ())
            rows = list(reader)
        except csv.Error as error:  # a field too long, a quote never closed, a lone carriage return
            raise ValueError(str(error)) from None
        if missing:
            raise ValueError(f"no column {', '.join(sorted(missing))}")
        if not rows:
            raise ValueError("a table without rows")
        for row in rows:
            if None in row or None in row.values() or any(not row[name].strip() for name in columns):
                raise ValueError("a ragged row")
        return rows

    return check


def json_with(*keys: str) -> Shape:
    """A strict JSON object that holds these keys; gives the dict."""

    def check(given: str) -> dict[str, Any]:
        value = _strict(given)
        if not isinstance(value, dict):
            raise ValueError("no JSON object")
        missing = set(keys) - set(value)
        if missing:
            raise ValueError(f"no key {', '.join(sorted(missing))}")
        return value

    return check


def json_list(*keys: str) -> Shape:
    """A strict JSON list; with keys, one whose every item is an object that holds them."""

    def check(given: str) -> list[Any]:
        value = _strict(given)
        if not isinstance(value, list):
            raise ValueError("no JSON list")
        if keys and not all(isinstance(item, dict) and set(keys) <= set(item) for item in value):
            raise ValueError(f"an item without {', '.join(keys)}")
        return value

    return check


def _strict(given: str) -> Any:
    # RecursionError: a hostile depth is bad data like any other.
    try:
        return json.loads(given, parse_constant=_constant)
    except RecursionError:
        raise ValueError("JSON nested too deep") from None


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
