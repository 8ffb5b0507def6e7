"""Calls and results that stand as text in a chat history: smolagents hands them back so.

A batch is told as `Calling tools:` with a Python list, its results as one `Observation:` without a
boundary between them. A step that failed is dropped: all that is left of it is the error, in the user text.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forge_chaos.modelserver.view import Pair, Reply, ToolCall

CALLING = "Calling tools:\n"
OBSERVED = "Observation:\n"
ANSWER = "final_answer"
FAILED = "Error:\nError executing tool '"
ARGUMENTS = "' with arguments "
ENDS = ("\nPlease try again or use another tool", "\nNow let's retry:")


def calls(text: str) -> tuple[ToolCall, ...]:
    """The calls that an assistant's text tells of."""
    _, told, rest = text.partition(CALLING)
    try:
        found = ast.literal_eval(rest.strip()) if told else ()
        return tuple(
            ToolCall(
                str(call["function"]["name"]), _arguments(call["function"]["arguments"]), str(call["id"])
            )
            for call in found
        )
    except (ValueError, SyntaxError, TypeError, KeyError, RecursionError, MemoryError):
        return ()


def said(text: str) -> str:
    """A user's text without what tells of steps that failed."""
    return text.partition(FAILED)[0].rstrip() if FAILED in text else text


def replies(asked: Sequence[ToolCall], text: str) -> Iterator[Pair]:
    """The results that a user's text holds: those of the calls before it, then the steps that failed.

    Of several results each gets one line, where there are as many lines; else they cannot be told apart.
    """
    if asked and text.startswith(OBSERVED):
        whole = said(text).removeprefix(OBSERVED)
        lines = [whole] if len(asked) == 1 else whole.split("\n")
        if len(lines) == len(asked):
            yield from ((call, Reply(line)) for call, line in zip(asked, lines, strict=True))
    for step in text.split(FAILED)[1:]:
        yield _failure(step)


def _failure(step: str) -> Pair:
    """`NAME' with arguments {...}: TEXT`, up to the advice that follows."""
    name, _, rest = step.partition(ARGUMENTS)
    text = rest
    args: Any = None
    at = rest.find("}: ")
    while args is None and at >= 0:
        try:
            args, text = ast.literal_eval(rest[: at + 1]), rest[at + 3 :]
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            at = rest.find("}: ", at + 1)
    for end in ENDS:
        text = text.partition(end)[0]
    if not isinstance(args, Mapping):
        return None, Reply(text, True)
    return ToolCall(name, args), Reply(text, True)


def _arguments(given: Any) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {"": given}
