"""What an agent streams to its user, put together again: the answer, and what a trace keeps of the events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from forge_chaos.nouns import Answer

KINDS = ("start", "delta", "stop")
LIKE = "Yield text, or {'type': 'start', 'delta' or 'stop', 'text': ...}"


@dataclass(slots=True)
class Streamed:
    """One message as it was streamed. `said` is the answer that its stop event gives, None where it gives none."""

    start: bool
    deltas: list[str] = field(default_factory=list)
    stop: bool = False
    said: str | None = None

    @property
    def text(self) -> str:
        return "".join(self.deltas)

    def kept(self) -> dict[str, Any]:
        said = {} if self.said is None else {"said": self.said}
        return {"start": self.start, "deltas": len(self.deltas), "text": self.text, "stop": self.stop, **said}


async def streamed(events: AsyncGenerator[Any, Any]) -> Answer:
    """The answer of an agent that yields: what the deltas of its last message add up to.

    A plain text is a delta, too. Where there is nothing but plain texts, the generator's own beginning and end are
    those of the one message. Events of other types are counted. Raises TypeError for what is no event.
    """
    messages: list[Streamed] = []
    plain = True
    others = 0
    async with aclosing(events):
        async for event in events:
            kind, text = _read(event)
            plain = plain and isinstance(event, str)
            if kind not in KINDS:
                others += 1
                continue
            if kind == "start" or not messages or messages[-1].stop:
                messages.append(Streamed(kind == "start"))
            if kind == "delta":
                messages[-1].deltas.append(text or "")
            elif kind == "stop":
                messages[-1].stop, messages[-1].said = True, text
    answer = messages[-1].text if messages else ""
    if plain:
        return Answer(
            answer, stream={"deltas": sum(len(message.deltas) for message in messages), "text": answer}
        )
    more = {"others": others} if others else {}
    return Answer(answer, stream={"messages": [message.kept() for message in messages], **more})


def _read(event: Any) -> tuple[str, str | None]:
    """Type and text of an event."""
    if isinstance(event, str):
        return "delta", event
    kind = event.get("type") if isinstance(event, Mapping) else None
    if not isinstance(kind, str):
        raise TypeError(f"the agent yielded {_named(event)}. {LIKE}")
    text = event.get("text", event.get("answer") if kind == "stop" else None)
    if kind in KINDS and not isinstance(text, str | None):
        raise TypeError(f"the agent yielded a {kind} whose text is {_named(text)}. {LIKE}")
    return kind, text if isinstance(text, str) else None


def _named(value: Any) -> str:
    return (
        "a dict without a type" if isinstance(value, Mapping) else f"an object of type {type(value).__name__}"
    )


__all__ = ["streamed"]
