"""Server-sent events, the form of every streamed answer: written whole, read back whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

EVENTS, JSON = "text/event-stream", "application/json"
DONE = b"data: [DONE]\n\n"
PIECE = 24  # characters of text or arguments in one delta


def dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()


def event(data: Any, name: str = "") -> bytes:
    """One event. With a name it says so in a line of its own."""
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + dump(data) + b"\n\n"


def pieces(text: str) -> Iterator[str]:
    """A text in the parts in which a model would write it."""
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]


def content_type(body: bytes) -> str:
    """What an answer is. JSON never begins as an event does."""
    return EVENTS if body.startswith((b"data:", b"event:")) else JSON


def parts(body: bytes) -> Iterator[bytes]:
    """The events of a body, each with its end; JSON is one part."""
    if content_type(body) == JSON:
        yield body
        return
    for part in body.split(b"\n\n"):
        if part:
            yield part + b"\n\n"


def read(body: bytes) -> list[dict[str, Any]]:
    """The JSON objects in a body of events. What is none, `[DONE]` among it, is left out."""
    found: list[dict[str, Any]] = []
    for part in body.replace(b"\r\n", b"\n").split(b"\n\n"):
        lines = [line[5:].strip() for line in part.split(b"\n") if line.startswith(b"data:")]
        try:
            value = json.loads(b"\n".join(lines))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def broken_off(body: bytes) -> bytes:
    """The events up to the last one that carries text or arguments: what has come when a stream breaks there."""
    events = list(parts(body))
    last = max((n for n, event in enumerate(events) if any(map(_is_piece, read(event)))), default=-1)
    return b"".join(events[: last + 1])


def _is_piece(event: dict[str, Any]) -> bool:
    if "choices" in event:
        deltas = [choice.get("delta") or {} for choice in event["choices"]]
        return any(delta.get("content") or delta.get("tool_calls") for delta in deltas)
    kind = str(event.get("type"))
    return kind == "content_block_delta" or (kind.startswith("response.") and kind.endswith(".delta"))
