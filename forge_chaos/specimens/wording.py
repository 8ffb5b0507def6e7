"""Known-bad: how a result becomes text. The reference agent's `worded` shows what is right."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from forge_chaos import reference
from forge_chaos.specimens._loop import Call, Message, Told, answers, loop, name_of, worded

WIDTH = 1_500  # characters
EMPTY = reference.worded("")
RECORD = {"id", "customer", "amount", "status"}


async def crashes_on_empty(task: Any, tools: Any, model: Any) -> str:
    """An empty result is taken for an error of its own, and raised."""

    def word(value: Any) -> str:
        if value in ("", None, [], {}):
            raise ValueError("the tool returned nothing")
        return reference.worded(value)

    return await loop(task, tools, model, perform=worded(word))


async def crashes_on_nan(task: Any, tools: Any, model: Any) -> str:
    """Data is written as strict JSON, which has no NaN, without a thought of what then."""

    def word(value: Any) -> str:
        return (
            reference.worded(value)
            if isinstance(value, str)
            else json.dumps(value, default=str, allow_nan=False)
        )

    return await loop(task, tools, model, perform=worded(word))


async def crashes_on_date(task: Any, tools: Any, model: Any) -> str:
    """Data is written as JSON, which has no dates, without a thought of what then."""

    def word(value: Any) -> str:
        return reference.worded(value) if isinstance(value, str | bytes) else json.dumps(value)

    return await loop(task, tools, model, perform=worded(word))


async def crashes_on_bytes(task: Any, tools: Any, model: Any) -> str:
    """Bytes are decoded as if they were always UTF-8."""

    def word(value: Any) -> str:
        return reference.worded(value.decode() if isinstance(value, bytes) else value)

    return await loop(task, tools, model, perform=worded(word))


async def sends_surrogates(task: Any, tools: Any, model: Any) -> str:
    """Text goes to the provider as it came, with characters that no UTF-8 can say."""

    def word(value: Any) -> str:
        if isinstance(value, str) and not value.isascii():
            return value.replace("\x00", " ")[: reference.CAP - reference.ROOM]
        return reference.worded(value)

    return await loop(task, tools, model, perform=worded(word))


async def sends_nul(task: Any, tools: Any, model: Any) -> str:
    """Text goes to the provider with its NUL characters."""

    def word(value: Any) -> str:
        if isinstance(value, str) and "\x00" in value:
            return value.encode("utf-8", "replace").decode()[: reference.CAP - reference.ROOM]
        return reference.worded(value)

    return await loop(task, tools, model, perform=worded(word))


async def sends_null(task: Any, tools: Any, model: Any) -> str:
    """An empty result is sent as no content at all, which providers refuse."""

    def enter(calls: Sequence[Call], results: Sequence[Told]) -> list[Message]:
        messages = answers(calls, results)
        for message in messages:
            message["content"] = None if message["content"] == EMPTY else message["content"]
        return messages

    return await loop(task, tools, model, enter=enter)


async def sends_all(task: Any, tools: Any, model: Any) -> str:
    """A result is sent whole, however long it is."""

    def word(value: Any) -> str:
        text = reference.worded(value)
        return value if isinstance(value, str) and len(value) > len(text) else text

    return await loop(task, tools, model, perform=worded(word))


async def trims(task: Any, tools: Any, model: Any) -> str:
    """A long result is cut, and nothing says so."""

    def word(value: Any) -> str:
        return reference.worded(value)[:WIDTH]

    return await loop(task, tools, model, perform=worded(word))


async def validates(task: Any, tools: Any, model: Any) -> str:
    """A record with a field that its schema does not name is thrown away, and its tool is blocked."""
    blocked: set[str] = set()

    async def perform(tools: Any, call: Call) -> Told:
        if name_of(call) in blocked:
            return f"RuntimeError: {name_of(call)} is blocked", True
        text, failed = await reference.perform(tools, call)
        if name_of(call) == "get_record" and not failed and not _fields(text) <= RECORD:
            blocked.add(name_of(call))
            return "ValueError: the output does not fit its schema", True
        return text, failed

    return await loop(task, tools, model, perform=perform)


def _fields(text: str) -> set[str]:
    try:
        found = json.loads(text)
    except ValueError:
        return set()
    return set(found) if isinstance(found, dict) else set()
