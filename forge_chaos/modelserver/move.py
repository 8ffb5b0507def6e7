"""What a scripted model does next: it says something, or it asks for calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from forge_chaos.modelserver.view import ToolCall


@dataclass(frozen=True, slots=True)
class Say:
    """The last word: an answer without calls."""

    text: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Calls of one turn. `wait` is how many seconds of trial time the model lets pass before it answers.
    Without calls it is a mere pause, which only a running solution yields. `text` is what it says beside them."""

    calls: tuple[ToolCall, ...]
    wait: float = 0.0
    text: str = ""


Move: TypeAlias = Say | Ask
