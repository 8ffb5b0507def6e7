"""The recorded form of values: strict JSON, capped, with secrets taken out before anything is cut.

What JSON cannot hold is recorded as `{"$type": "datetime.datetime", "$repr": "..."}` or, for bytes,
`{"$type": "bytes", "$b64": "..."}`, and compared in that form. What is over the cap is recorded as
`{"$type": "str", "$head": "...", "$tail": "...", "$length": n, "$hash": "b2:..."}`.
"""

from __future__ import annotations

import json
import math
import os
import re
from ast import literal_eval
from asyncio import CancelledError
from base64 import b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any
from urllib.parse import quote

from forge_chaos import natural
from forge_chaos.events import Told
from forge_chaos.nouns import Err, Ok

CAP = 64_000  # characters of one text
HEAD = 2_000  # characters kept of either end of a text over the cap
NAME = 4_096  # characters of a name or a target
DEEP = 100  # containers within containers
FEW = 100  # parts of a value that is not counted
ROOM = 1_000_000  # characters and parts of one value, all its texts together
BITS = 4_096  # of a whole number: far below what JSON readers refuse
SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.I)
SHORTEST_SECRET = 6
CUT = "\n[...]\n"
LEFT = f"<left out: the value has more than {ROOM} characters>"

Redact = Callable[[str], str]
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_CONTAINERS = (dict, list, tuple, set, frozenset)
_HOSTILE = (Exception, CancelledError, GeneratorExit, SystemExit)  # Ctrl-C is the user's, not the value's


def nothing_secret(text: str) -> str:
    return text


def redactor(environment: Mapping[str, str] | None = None, words: Collection[str] = ()) -> Redact:
    """Takes the values of variables named like secrets out of any text, also where they stand escaped
    as in JSON, in a repr or in an address.

    Values under 6 characters are left, and so are those that are `words` of ours, the names of tools for
    one: striking them out would change verdicts.
    """
    environment = os.environ if environment is None else environment
    values = (v.strip() for k, v in environment.items() if SECRET.search(k))
    secrets = (v for v in values if len(v) >= SHORTEST_SECRET and v not in words)
    written = {form for v in secrets for form in _written(v)}
    if not written:
        return nothing_secret
    pattern = re.compile("|".join(map(re.escape, sorted(written, key=lambda v: (-len(v), v)))))
    return lambda text: pattern.sub("[redacted]", text)


def _written(secret: str) -> Iterator[str]:
    """How a secret may stand in a text."""
    yield secret
    yield repr(secret)[1:-1]
    yield ascii(secret)[1:-1]
    yield quote(secret, safe="", errors="surrogateescape")
    for ascii_only in (True, False):
        once = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        yield once
        yield json.dumps(once, ensure_ascii=ascii_only)[1:-1]  # JSON within JSON: a model's arguments


def digest(data: bytes) -> str:
    return "b2:" + blake2b(data, digest_size=16).hexdigest()


def text(value: str, redact: Redact = nothing_secret) -> Any:
    """One string in recorded form."""
    if redact is not nothing_secret:
        value = redact(value)
    if len(value) <= CAP and (value.isascii() or _encodable(value)):
        return value
    return _long("str", value) if _encodable(value) else _long("str", ascii(value))


def _encodable(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _long(kind: str, shown: str) -> dict[str, Any]:
    """A text that stands for a value of this type; whole, or its two ends when it is over the cap."""
    if len(shown) <= CAP:
        return {"$type": kind, "$repr": shown}
    return {
        "$type": kind,
        "$head": shown[:HEAD],
        "$tail": shown[-HEAD:],
        "$length": len(shown),
        "$hash": digest(shown.encode()),
    }


def name(value: str, redact: Redact = nothing_secret) -> str:
    """A name or a target in recorded form, which stays a string."""
    if redact is nothing_secret and len(value) <= NAME and value.isascii():
        return value
    value = redact(value)
    if not _encodable(value):
        value = ascii(value)
    return value if len(value) <= NAME else f"{value[:HEAD]}... {digest(value.encode())}"


def plain(value: Any, redact: Redact = nothing_secret) -> Any:
    """`value` in recorded form. Total: any Python value has one, equal values of equal types have equal
    ones, and nothing that is done to `value` later changes it."""
    kind = type(value)
    if redact is nothing_secret:  # the hot path: what most arguments and results are
        if kind is str:
            return value if len(value) <= CAP and value.isascii() else text(value)
        if value is None or kind is bool:
            return value
        if kind is dict and _flat(value):
            return value.copy()
    try:
        return _Form(redact).of(value, 0)
    except _HOSTILE as error:  # another thread changes it meanwhile, or there is no stack left for it
        return {"$type": _type(kind), "$repr": f"<recording raised {type(error).__name__}>"}


def _flat(value: dict[Any, Any]) -> bool:
    """Only short ASCII texts and nothing else that could have to be changed?"""
    for key, part in value.items():
        if type(key) is not str or not key.isascii():
            return False
        if type(part) is str:
            if not part.isascii() or len(key) + len(part) > CAP:
                return False
        elif type(part) is int:
            if part.bit_length() > BITS:
                return False
        elif part is not None and type(part) is not bool:
            return False
    return len(value) <= FEW


class _Form:
    """One value on its way into recorded form: what room is left, which containers it is inside of."""

    __slots__ = ("_inside", "_redact", "_room")

    def __init__(self, redact: Redact) -> None:
        self._redact = redact
        self._room = ROOM
        self._inside: set[int] = set()

    def of(self, value: Any, depth: int) -> Any:
        kind = type(value)
        self._room -= 1
        if kind is str:
            return self._text(value)
        if value is None or kind is bool:
            return value
        if kind in _CONTAINERS:
            return self._container(value, kind, depth)
        if issubclass(kind, str):
            return self._text(str.__str__(value))
        if issubclass(kind, int):
            return self._whole(int.__int__(value))
        if issubclass(kind, float):
            return self._number(float.__float__(value))
        if issubclass(kind, (bytes, bytearray)):
            return self._bytes(b"".join((value,)))
        if issubclass(kind, _CONTAINERS):
            return self._container(value, kind, depth)
        return self._shown(_type(kind), _ADDRESS.sub("", _repr(value)))

    def _text(self, value: str) -> Any:
        if self._redact is nothing_secret and len(value) <= CAP and value.isascii():
            self._room -= len(value)
            return value
        form = text(value, self._redact)
        self._room -= len(form) if type(form) is str else 2 * HEAD
        return form

    def _shown(self, kind: str, shown: str) -> dict[str, Any]:
        shown = self._redact(shown)
        form = _long(kind, shown if _encodable(shown) else ascii(shown))
        self._room -= min(len(shown), CAP)
        return form

    def _whole(self, value: int) -> Any:
        if value.bit_length() > BITS:
            return self._shown("int", hex(value))
        if self._redact is not nothing_secret and self._redact(str(value)) != str(value):
            return self._redact(str(value))
        return value

    def _number(self, value: float) -> Any:
        if not math.isfinite(value):
            return {"$type": "float", "$repr": repr(value)}
        if self._redact is not nothing_secret and self._redact(repr(value)) != repr(value):
            return self._redact(repr(value))
        return value

    def _bytes(self, data: bytes) -> dict[str, Any]:
        if self._redact is not nothing_secret:
            data = self._redact(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        if len(data) * 4 > CAP * 3:
            return {"$type": "bytes", "$length": len(data), "$hash": digest(data)}
        self._room -= len(data)
        return {"$type": "bytes", "$b64": b64encode(data).decode()}

    def _container(self, value: Any, kind: type, depth: int) -> Any:
        inside, me = self._inside, id(value)
        if me in inside:
            return {"$type": _type(kind), "$repr": "<it holds itself>"}
        if depth >= DEEP and not ("$type" in value and kind is dict and _flat(value)):  # no form of ours
            return {"$type": _type(kind), "$repr": f"<more than {DEEP} deep>"}
        if self._room <= 0:
            return {"$type": _type(kind), "$repr": LEFT}
        inside.add(me)
        try:
            if issubclass(kind, dict):
                return self._dict(dict.items(value), depth + 1)
            if issubclass(kind, (list, tuple)):
                parts = list.__iter__(value) if issubclass(kind, list) else tuple.__iter__(value)
                return self._parts(parts, depth + 1)
            parts = set.__iter__(value) if issubclass(kind, set) else frozenset.__iter__(value)
            shown = ", ".join(sorted(map(_json, self._parts(parts, depth + 1))))
            return self._shown("set", f"{{{shown}}}")
        finally:
            inside.discard(me)

    def _parts(self, parts: Iterator[Any], depth: int) -> list[Any]:
        found: list[Any] = []
        for part in parts:
            if self._room <= 0:
                found.append({"$type": "left out", "$repr": LEFT})
                break
            found.append(self.of(part, depth))
        return found

    def _dict(self, items: Iterable[tuple[Any, Any]], depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        odd: list[tuple[Any, Any]] = []
        for key, part in items:
            if self._room <= 0:
                found["$left"] = LEFT
                break
            form = self.of(part, depth)
            if type(key) is str and key.isascii() and self._redact is nothing_secret and len(key) <= NAME:
                found[key] = form
            elif issubclass(type(key), str):
                found[name(str.__str__(key), self._redact)] = form
            else:
                odd.append((self.of(key, depth), form))
        if not odd:
            return found
        shown = ", ".join(sorted(f"{_json(key)}: {_json(part)}" for key, part in (*found.items(), *odd)))
        return self._shown("dict", f"{{{shown}}}")


def _json(form: Any) -> str:
    return json.dumps(form, ensure_ascii=False, sort_keys=True)


def _type(kind: type) -> str:
    try:
        return name(f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins."))
    except _HOSTILE:
        return "object"


def _repr(value: Any) -> str:
    """repr() as an exact string; one that raises is data, not our failure."""
    try:
        return str.__str__(repr(value))
    except _HOSTILE as error:
        return f"<repr raised {type(error).__name__}>"


def told(result: Ok | Err, target: str | None = None, redact: Redact = nothing_secret) -> Told:
    """A result in recorded form. Raises Misuse for an Err whose exception cannot be built."""
    if type(result) is Ok:
        return Told(plain(result.value, redact))
    assert isinstance(result, Err)
    live = natural.exception(result, target)
    return Told(
        error={
            "code": result.code,
            "type": type(live).__name__,
            "message": text(natural.shown(live), redact),
            "text": text(natural.worded(live), redact),
        }
    )


def failure(error: BaseException, redact: Redact = nothing_secret) -> dict[str, Any]:
    """An exception in recorded form: its type with module, its text, the chain of causes by type, the
    types within a group, and `at`, the last line of the user's own code that it passed."""
    kind = type(error)
    found: dict[str, Any] = {
        "type": kind.__name__,
        "module": str(kind.__module__),
        "message": text(natural.shown(error), redact),
        "causes": [type(cause).__name__ for cause in _causes(error)],
    }
    if isinstance(error, BaseExceptionGroup):
        found["group"] = [type(each).__name__ for each in error.exceptions[:8]]
    if place := _place(error):
        found["at"] = text(place, redact)
    return found


_NOT_THEIRS = (os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.__file__))


def _place(error: BaseException) -> str:
    """`file.py:12`; empty when the exception passed through no file of the user's."""
    found, frame = "", error.__traceback__
    while frame is not None:
        file = frame.tb_frame.f_code.co_filename
        if not file.startswith(("<", *_NOT_THEIRS)) and "site-packages" not in file:
            found = f"{os.path.basename(file)}:{frame.tb_lineno}"
        frame = frame.tb_next
    return found


def _causes(error: BaseException) -> Iterator[BaseException]:
    for _ in range(8):
        cause = error.__cause__ if error.__cause__ is not None else error.__context__
        if cause is None:
            return
        yield cause
        error = cause


def same(recorded: Any, expected: Any) -> bool:
    """Is the value behind this recorded form `expected`? Long text is compared by length and hash."""
    return bool(recorded == plain(expected))


def words(recorded: Any) -> str:
    """A recorded value as text to search in: strings as they are, long ones by their two ends, the rest
    as compact JSON."""
    if isinstance(recorded, str):
        return recorded
    if isinstance(recorded, dict):
        if "$head" in recorded:
            return CUT.join(str(recorded[end]) for end in ("$head", "$tail") if end in recorded)
        if recorded.get("$type") == "str" and isinstance(recorded.get("$repr"), str):
            return _unquoted(recorded["$repr"])
    return json.dumps(recorded, ensure_ascii=False, sort_keys=True)


def _unquoted(shown: str) -> str:
    try:
        return str(literal_eval(shown))
    except (ValueError, SyntaxError):
        return shown


def changed(
    before: Mapping[str, Any], after: Mapping[str, Any], names: Iterable[str] | None = None
) -> dict[str, str]:
    """{resource: created | changed | deleted} from one map of resources to another."""
    found: dict[str, str] = {}
    for name in sorted(set(before) | set(after)) if names is None else names:
        if name not in before:
            found[name] = "created"
        elif name not in after:
            found[name] = "deleted"
        elif before[name] != after[name]:
            found[name] = "changed"
    return found
