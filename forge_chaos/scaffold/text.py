"""Any text as TOML, and so that the templates of a scenario leave it as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ESCAPES = {"\b": "\\b", "\t": "\\t", "\f": "\\f", "\r": "\\r", "\\": "\\\\"}
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f\\]")


def toml(value: str) -> str:
    """A TOML string. One of several lines stands on lines of its own."""
    plain = _CONTROL.sub(lambda m: _ESCAPES.get(m[0], f"\\u{ord(m[0]):04x}"), value)
    if "\n" not in plain:
        return '"' + plain.replace('"', '\\"') + '"'
    plain = re.sub(r'"(?="|\Z)', r'\\"', plain)  # never three in a row, nor one before the end
    return f'"""\n{plain}"""'


def array(values: Iterable[str]) -> str:
    """A TOML array of strings."""
    return "[" + ", ".join(map(toml, values)) + "]"


def untemplated(value: str) -> str:
    """A template that gives `value`: what would begin an expression is written out, and so are line ends
    that a template would make the same."""
    if "{" not in value:
        return value  # a scenario fills in nothing there
    return re.sub(r"\{[{%#]|\{?\r", lambda m: "{{ " + repr(m[0]) + " }}", value)
