"""Was the model later shown what the gate told the agent? A harness can swallow a fault on the way."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from forge_chaos import chat, recorded
from forge_chaos.events import SHELL, Told
from forge_chaos.reading import Reading, Step
from forge_chaos.verdict import Seen

ESCAPES = re.compile(r"\\+(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[nrtbf])?|[^0-9A-Za-z\\]+")
TROUBLE = re.compile(
    r"err(or|no)|fail|exception|denied|refus|time[d ]*out|not found|no such|unable|can(no|'|’)t|could ?n|invalid"
    r"|malformed|unavailable|blocked|abort|cancel|problem|wrong",
    re.I,
)
DISTINCTIVE = 4  # characters below which a text found elsewhere proves nothing
PIECE = 60  # characters of a long text that are looked for: its beginning, or its end


def seen(reading: Reading, step: Step) -> Seen:
    """Does what this call was told stand in a later model request?

    The tool message that answers the call is looked at first: it shows the result when it holds a
    distinctive part of it, or, for an error, when it says at least that something went wrong. Without
    such a message the text is looked for in all that is new since. Unknown for a call that was
    abandoned, when no request followed, and for a text too short to be told from any other. A call that
    the harness made for itself, while others were asked for, is nothing that it owes the model: it is
    seen or unknown. So is a program that its shell started.
    """
    if step.told is None or step.closed is None:
        return "unknown"
    closed = step.closed
    later = [message for seq, asked in reading.asked if seq > closed for message in asked.messages]
    if not any(seq > closed for seq, _ in reading.asked):
        return "unknown"
    needles = _needles(step.told)
    id = _id(reading, step)
    direct = [chat.text(m.get("content")) for m in later if id is not None and chat.answers(m) == id]
    if direct:
        shown = not needles or any(_holds(text, needles) or TROUBLE.search(text) for text in direct)
        return "yes" if shown else "no"
    if not any(len(needle) >= DISTINCTIVE for needle in needles):
        return "unknown"
    rest = [m for m in later if m.get("role") != "assistant"]
    if any(_holds(json.dumps(m, default=str), needles) for m in rest):
        return "yes"
    own = step.call.by.startswith(SHELL) or _asks(reading, step)
    return "unknown" if id is None and own else "no"


def shown_as(reading: Reading, step: Step) -> list[str]:
    """What the tool messages that answer this call say, those left out that the trace itself has cut."""
    if step.closed is None:
        return []
    found = _answered(reading, step.closed).get(_id(reading, step), [])
    return [chat.text(content) for content in found if not (isinstance(content, dict) and "$head" in content)]


def misplaced(reading: Reading, step: Step) -> str | None:
    """The id of another call of the same batch under which this call's result was shown, and not under
    its own; None when it stands where it belongs, or when its text could be any other's."""
    if step.told is None or step.closed is None:
        return None
    own = _id(reading, step)
    needles = [needle for needle in _needles(step.told) if len(needle) >= DISTINCTIVE]
    shown = _answered(reading, step.closed)
    if own not in shown or not needles or any(_holds(chat.text(c), needles) for c in shown[own]):
        return None
    for mate in reading.steps:
        other = _id(reading, mate)
        if other == own or other not in shown or other not in _batch(reading, own):
            continue
        its = _needles(mate.told) if mate.told is not None else []
        if any(_holds(chat.text(c), needles) for c in shown[other]) and not _holds(" ".join(its), needles):
            return other
    return None


def _answered(reading: Reading, after: int) -> dict[str | None, list[Any]]:
    """{id of a call: the contents that answer it} in the requests after this event."""
    found: dict[str | None, list[Any]] = {}
    for seq, asked in reading.asked:
        for message in asked.messages if seq > after else ():
            if (id := chat.answers(message)) is not None:
                found.setdefault(id, []).append(message.get("content"))
    return found


def _batch(reading: Reading, id: str | None) -> set[str]:
    """The ids that the model gave in the same reply."""
    replies = ([str(c["id"]) for c in chat.asked_for(replied.message)] for _, replied in reading.replied)
    return next((set(ids) for ids in replies if id in ids), set())


def squeeze(text: str) -> str:
    """Letters and digits alone, in small letters: what is left when text is escaped, quoted or wrapped."""
    return ESCAPES.sub("", text).casefold()


def _needles(told: Told) -> list[str]:
    """What to look for: any one of these, squeezed. Empty when there is nothing to be found again."""
    if told.error is not None:
        texts = [recorded.words(told.error.get(name) or "") for name in ("text", "message")]
    else:
        texts = list(_texts(told.value))
    return [needle for needle in map(squeeze, texts) if needle]


def _texts(value: Any) -> Iterator[str]:
    """A value as one text; where it has no plain one, the texts within it."""
    if isinstance(value, Mapping | list):
        if isinstance(value, Mapping) and "$type" in value:
            yield str(value.get("$repr") or value.get("$head") or "").strip("'\"")
            return
        yield json.dumps(value)
        for part in value.values() if isinstance(value, Mapping) else value:
            if isinstance(part, Mapping | list) or (isinstance(part, str) and len(part) >= DISTINCTIVE):
                yield from _texts(part)
    elif value is not None:
        yield recorded.words(value)


def _holds(text: str, needles: list[str]) -> bool:
    """Does the text hold one of them, or the beginning or the end of one that may have been cut?"""
    hay = squeeze(text)
    return any(piece in hay for needle in needles for piece in (needle[:PIECE], needle[-PIECE:]))


def _id(reading: Reading, step: Step) -> str | None:
    """The model's own id of the call: by its place in the batch, else by tool and arguments."""
    if step.call.order is not None:
        turn, index = step.call.order
        for _, replied in reading.replied:
            calls = (replied.message or {}).get("tool_calls") or ()
            if replied.request == turn and index < len(calls):
                return str(calls[index].get("id"))
    return _by_key(reading).get(step.call.call)


def _asks(reading: Reading, step: Step) -> bool:
    """Had the model asked for any call of tools before this step?"""
    return any(chat.asked_for(replied.message) for seq, replied in reading.replied if seq < step.seq)


def _by_key(reading: Reading) -> dict[int, str]:
    """{call: the model's id}, each call taking the oldest open one of equal tool and arguments, else of
    equal tool. A call that the harness repeats by itself shares the last one; for one that it makes by
    itself there is none, since what was answered already is not open."""
    free: list[tuple[int, str, str, str | None]] = []
    for seq, replied in reading.replied:
        for call in chat.asked_for(replied.message):
            tool, key = chat.key_of(call)
            free.append((seq, str(call["id"]), tool, key))
    answered: dict[str | None, list[int]] = {}
    for seq, asked in reading.asked:
        for message in asked.messages:
            answered.setdefault(chat.answers(message), []).append(seq)
    found: dict[int, str] = {}
    used: set[int] = set()
    for step in reading.steps:
        open_ = [
            n
            for n, (seq, id, _, _) in enumerate(free)
            if seq < step.seq and not any(seq < later < step.seq for later in answered.get(id, ()))
        ]
        same = [n for n in open_ if free[n][3] == step.key] or [
            n for n in open_ if free[n][2] == step.call.tool
        ]
        chosen = next((n for n in same if n not in used), same[-1] if same else None)
        if chosen is not None:
            used.add(chosen)
            found[step.call.call] = free[chosen][1]
    return found
