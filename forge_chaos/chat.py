"""Recorded chat messages read: who asked for what, who was answered, how long the history is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forge_chaos import recorded
from forge_chaos.events import Asked
from forge_chaos.reading import Reading, key

Message = Mapping[str, Any]


def asked_for(message: Message | None) -> list[Mapping[str, Any]]:
    """The tool calls of an assistant message, those without an id left out."""
    calls = (message or {}).get("tool_calls")
    found = calls if isinstance(calls, list | tuple) else ()
    return [call for call in found if isinstance(call, Mapping) and isinstance(call.get("id"), str)]


def key_of(call: Mapping[str, Any]) -> tuple[str, str | None]:
    """The tool that a tool call names, and its key; None where its arguments are no JSON object."""
    function = call.get("function")
    if not isinstance(function, Mapping):
        return "", None
    tool = str(function.get("name") or "")
    try:
        args = json.loads(function.get("arguments") or "{}")
    except (TypeError, ValueError):
        return tool, None
    return tool, key(tool, args) if isinstance(args, dict) else None


def arguments(call: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of a tool call; none where they are no JSON object."""
    function = call.get("function")
    try:
        found = json.loads(function.get("arguments") or "{}") if isinstance(function, Mapping) else None
    except (TypeError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def answers(message: Message) -> str | None:
    """The id of the tool call that this message answers, None for any other message."""
    id = message.get("tool_call_id")
    return id if message.get("role") == "tool" and isinstance(id, str) else None


def text(content: Any) -> str:
    """What a message's content says: text, or the texts of its parts."""
    if isinstance(content, list | tuple):
        return "\n".join(
            text(part.get("text", part) if isinstance(part, Mapping) else part) for part in content
        )
    return "" if content is None else recorded.words(content)


def length(value: Any) -> int:
    """Characters of text in a recorded value; text that was cut in the trace counts in full."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        if "$length" in value:
            return int(value["$length"])
        return sum(map(length, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(length, value))
    return 0 if value is None else len(str(value))


def histories(reading: Reading) -> Iterator[tuple[int, Asked, list[Message]]]:
    """Each request with its whole history: (event number, request, messages).

    A request that says it keeps more than there was ends the reading: nothing can be said of the rest.
    """
    history: list[Message] = []
    for seq, asked in reading.asked:
        if asked.kept > len(history):
            return
        history = [*history[: asked.kept], *asked.messages]
        yield seq, asked, history


def spoken(history: Sequence[Message]) -> bool:
    """Are these chat messages, that is, mappings that each have a role?"""
    return all(isinstance(message.get("role"), str) for message in history)
