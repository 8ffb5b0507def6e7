"""A tool's answer as the agent would read it, for the mechanisms that spoil it.

Text stays as it is; an object or a list is spoilt in its JSON form. Anything else - bytes, numbers,
None, an error - has no such form, and the mechanism leaves the result alone.
"""

from __future__ import annotations

import json
from typing import Any

from forge_chaos.nouns import Err, Ok


def text_of(result: Ok | Err) -> str | None:
    """The answer as text; None when there is none to spoil."""
    if isinstance(result, Err):
        return None
    value = result.value
    if isinstance(value, dict | list):
        try:
            return json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError):
            return None
    return value if isinstance(value, str) else None


def structure_of(result: Ok | Err) -> dict[str, Any] | list[Any] | None:
    """A copy of the object or list that the answer holds; None when it holds neither."""
    text = text_of(result)
    if text is None:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None
