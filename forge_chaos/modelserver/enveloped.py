"""Results in an envelope: google-adk and the Gemini API take only objects from a tool, and what is none is sent as
`{"result": ...}`. A model reads what is inside, and so does a scripted one, unless only the whole makes sense."""

from __future__ import annotations

import json

KEY = "result"


def opened(text: str) -> str:
    """What is inside; the text itself where it is no envelope. Nothing inside is empty text."""
    if not text.startswith("{"):
        return text
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(found, dict) or set(found) != {KEY}:
        return text
    inner = found[KEY]
    if inner is None:
        return ""
    return inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)


__all__ = ["opened"]
