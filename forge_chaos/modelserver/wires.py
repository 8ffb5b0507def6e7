"""The wires that a model is reached by, each a module of this shape, found by its path.

Chat form (`chat`) is what they have in common: a trace holds it, faults change it, the scripted model reads it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

from forge_chaos.modelserver import chat, messages, responses
from forge_chaos.modelserver.refusals import Refusal


class Wire(Protocol):
    """`chat` and `ask` carry a request into chat form and back, `completion` and `reply` an answer; `stream` and
    `gather` an answer into events and back. `chat`, `completion` and `gather` take whatever comes; the last two
    give None for what is no answer. `check` and `over` refuse as the provider does, in the form of OpenAI's
    error, and `refusal` puts that into the wire's own. `HISTORY` is the field that makes a request one."""

    PATH: str
    HISTORY: str

    def check(self, body: Any, /) -> Refusal | None: ...
    def over(self, window: int, tokens: int, /) -> Refusal: ...
    def refusal(self, status: int, error: Mapping[str, Any], /) -> Refusal: ...
    def chat(self, request: Mapping[str, Any], /) -> dict[str, Any]: ...
    def ask(self, asked: Mapping[str, Any], request: Mapping[str, Any], /) -> dict[str, Any]: ...
    def completion(self, reply: Mapping[str, Any], /) -> dict[str, Any] | None: ...
    def reply(self, completion: Mapping[str, Any], request: Mapping[str, Any], /) -> dict[str, Any]: ...
    def stream(self, reply: Mapping[str, Any], request: Mapping[str, Any], /) -> bytes: ...
    def gather(self, events: bytes, /) -> dict[str, Any] | None: ...


MARK = 10**12  # tokens that no request has
WIRES: tuple[Wire, ...] = (chat, responses, messages)


def at(path: str) -> Wire | None:
    """The wire that a path asks for, whatever stands before `/v1`."""
    where = path.partition("?")[0].rstrip("/")
    return next((wire for wire in WIRES if where.endswith(wire.PATH)), None)


def outgrown_by(text: str, window: int) -> int | None:
    """The tokens of the request that a refusal for this window is about; None for any other text."""
    for wire in WIRES:
        before, _, after = wire.over(window, MARK)["error"]["message"].partition(str(MARK))
        found = re.search(f"{re.escape(before)}(\\d+){re.escape(after)}", text)
        if found is not None:
            return int(found[1])
    return None


__all__ = ["WIRES", "Wire", "at", "outgrown_by"]
