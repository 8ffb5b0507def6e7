"""The recorded form of values: strict JSON, capped, with secrets taken out.

What JSON cannot hold is recorded as `{"$type": "datetime.datetime", "$repr": "..."}` or, for bytes,
`{"$type": "bytes", "$b64": "..."}`, and compared in that form. Text over the cap is recorded as
`{"$type": "str", "$head": "...", "$length": n, "$hash": "b2:..."}`.
"""

from __future__ import annotations

import math
import os
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import Any

from forge_chaos import natural
from forge_chaos.events import Told
from forge_chaos.nouns import Err, Ok

CAP = 64_000
HEAD = 2_000
SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.I)
SHORTEST_SECRET = 6

Redact = Callable[[str], str]


def nothing_secret(text: str) -> str:
    return text


def redactor(environment: Mapping[str, str] | None = None) -> Redact:
    """Takes the values of variables named like secrets out of any text.

    Values under 6 characters are left: they would strike out ordinary words.
    """
    environment = os.environ if environment is None else environment
    secrets = sorted(
        {v for k, v in environment.items() if SECRET.search(k) and len(v) >= SHORTEST_SECRET},
        key=lambda v: (-len(v), v),
    )
    if not secrets:
        return nothing_secret
    pattern = re.compile("|".join(re.escape(v) for v in secrets))
    return lambda text: pattern.sub("[redacted]", text)


def digest(data: bytes) -> str:
    return "b2:" + blake2b(data, digest_size=16).hexdigest()


def text(value: str, redact: Redact = nothing_secret) -> Any:
    """One string in recorded form."""
    if redact is not nothing_secret:
        value = redact(value)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return {"$type": "str", "$repr": ascii(value)[:CAP]}
    if len(value) > CAP:
        data = value.encode()
        return {"$type": "str", "$head": value[:HEAD], "$length": len(value), "$hash": digest(data)}
    return value


def plain(value: Any, redact: Redact = nothing_secret) -> Any:
    """`value` in recorded form. Total: any Python value has one, and equal values have equal ones."""
    kind = type(value)
    if kind is str:
        return text(value, redact)
    if value is None or kind is bool or kind is int:
        return value
    if kind is float:
        return value if math.isfinite(value) else {"$type": "float", "$repr": repr(value)}
    if kind is dict and all(type(key) is str for key in value):
        return {_key(k, redact): plain(v, redact) for k, v in value.items()}
    if kind is list or kind is tuple:
        return [plain(v, redact) for v in value]
    if kind is bytes or kind is bytearray:
        if len(value) > CAP:
            return {"$type": "bytes", "$length": len(value), "$hash": digest(bytes(value))}
        return {"$type": "bytes", "$b64": b64encode(value).decode()}
    return {
        "$type": f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins."),
        "$repr": _repr(value, redact),
    }


def _key(key: str, redact: Redact) -> str:
    form = text(key, redact)
    return form if isinstance(form, str) else ascii(key)[:CAP]


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def _repr(value: Any, redact: Redact) -> str:
    """repr() without the object's address, which would differ from run to run."""
    try:
        shown = repr(sorted(value, key=repr)) if isinstance(value, set | frozenset) else repr(value)
    except Exception as error:  # a hostile __repr__ is data, not our failure
        shown = f"<repr raised {type(error).__name__}>"
    form = text(_ADDRESS.sub("", shown)[:CAP], redact)
    return form if isinstance(form, str) else ascii(shown)[:CAP]


def told(result: Ok | Err, target: str | None = None, redact: Redact = nothing_secret) -> Told:
    """A result in recorded form."""
    if isinstance(result, Ok):
        return Told(plain(result.value, redact))
    live = natural.exception(result, target)
    name = type(live).__name__
    return Told(
        error={
            "code": result.code,
            "type": name,
            "message": text(str(live), redact),
            "text": text(natural.wording(result, target), redact),
        }
    )


def failure(error: BaseException, redact: Redact = nothing_secret) -> dict[str, Any]:
    """An exception in recorded form: its type with module, its text, the chain of causes by type."""
    chain: list[str] = []
    cause = error.__cause__ or error.__context__
    while cause is not None and len(chain) < 8:
        chain.append(type(cause).__name__)
        cause = cause.__cause__ or cause.__context__
    try:
        shown = str(error)
    except Exception as broken:
        shown = f"<str raised {type(broken).__name__}>"
    kind = type(error)
    return {
        "type": kind.__name__,
        "module": kind.__module__,
        "message": plain(shown, redact),
        "causes": chain,
    }


def same(recorded: Any, expected: Any) -> bool:
    """Is the value behind this recorded form `expected`? Long text is compared by length and hash."""
    return bool(recorded == plain(expected))


def words(recorded: Any) -> str:
    """A recorded value as text to search in: strings as they are, the rest as compact JSON."""
    if isinstance(recorded, str):
        return recorded
    if isinstance(recorded, dict) and "$head" in recorded:
        return str(recorded["$head"])
    import json

    return json.dumps(recorded, ensure_ascii=False, sort_keys=True)


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
