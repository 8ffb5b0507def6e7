"""A model's reply taken apart and put together again, in the chat form in which the model gate passes it on.

The reply itself stays as it is: whoever made it may still hold it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forge_chaos.nouns import Err, Ok

Item = dict[str, Any]


def choice_of(result: Ok | Err) -> Item | None:
    """The first choice of a completion; None where there is none."""
    reply = result.value if isinstance(result, Ok) else None
    choices = reply.get("choices") if isinstance(reply, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) and isinstance(first.get("message"), dict) else None


def calls_of(result: Ok | Err) -> list[Item]:
    """The tool calls of a completion, those that are none left out."""
    choice = choice_of(result)
    calls = choice["message"].get("tool_calls") if choice is not None else None
    found = calls if isinstance(calls, list) else []
    return [call for call in found if isinstance(call, dict) and isinstance(call.get("function"), dict)]


def saying(result: Ok | Err, message: Mapping[str, Any], finish: str | None = None) -> Item:
    """The completion with `message` laid over its own, and another reason for its end where one is given."""
    choice = choice_of(result)
    assert choice is not None
    assert isinstance(result, Ok)
    anew = {**choice, "message": {**choice["message"], **message}}
    if finish is not None:
        anew["finish_reason"] = finish
    return {**result.value, "choices": [anew]}


def put(calls: Sequence[Item], place: int, id: str | None = None, **function: Any) -> list[Item]:
    """The calls with the one at `place` worded otherwise."""
    call = calls[place]
    anew = {**call, "function": {**call["function"], **function}}
    if id is not None:
        anew["id"] = id
    return [*calls[:place], anew, *calls[place + 1 :]]
