"""What must hold in every trial, whatever the fault: each check yields failed verdicts with evidence."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forge_chaos import chat, recorded
from forge_chaos.chat import Message
from forge_chaos.events import Asked, Called, Executed, Trace, find
from forge_chaos.reading import Reading, Step
from forge_chaos.seen import misplaced, shown_as
from forge_chaos.verdict import Fired, Verdict

CAP = 100_000  # characters of one result at the model
LONG = 1_000  # characters of a result that may be worth cutting
LEAST = 100  # characters that are missed when they are gone
MARK = re.compile(r"\.\.\.|\u2026|trunc|omit|elided|shorten|left out|\bcut\b|\bmore char", re.I)
AFTER = {"left_running": "was left running after the end", "changed_after_end": "changed after the end"}


def violations(trace: Trace, reading: Reading, fired: Sequence[Fired] = ()) -> tuple[Verdict, ...]:
    """All invariants that do not hold, each named once per thing that breaks it."""
    return (
        *_requests(reading),
        *_dropped(reading),
        *_marked(reading),
        *_misplaced(reading),
        *_trimmed(reading),
        *_swallowed(reading, fired),
        *_after_end(trace, reading),
        *_streamed(reading),
        *_between_turns(reading),
        *_cancelled(reading),
    )


def _requests(reading: Reading) -> Iterator[Verdict]:
    """What the agent sent, before any cut of ours: the gate records a request ahead of its faults."""
    said: set[tuple[str, str]] = set()
    earlier: list[list[Message]] = []
    for seq, asked, history in chat.histories(reading):
        if not chat.spoken(history):
            return
        for name, what, why in (
            *_answered(asked, history),
            *_valid(asked),
            *_capped(asked),
            *_grown(earlier, asked, history),
        ):
            if (name, what) not in said:
                said.add((name, what))
                yield Verdict(name, "fail", why, (seq,))
        earlier.append(history)


def _answered(asked: Asked, history: Sequence[Message]) -> Iterator[tuple[str, str, str]]:
    """Each call of the model is answered exactly once, under its id, before it is asked again.

    What stood in the request before was looked at then; its last batch may have gained answers.
    """
    start = next((n for n in range(asked.kept - 1, -1, -1) if history[n].get("role") == "assistant"), 0)
    wanted: list[str] = []
    given: list[str] = []
    for message in (*history[start:], None):
        if message is None or message.get("role") == "assistant":
            if wanted != given:
                yield from _unpaired(Counter(wanted), Counter(given))
            given = []
            wanted = [str(call["id"]) for call in chat.asked_for(message)]
        elif (id := chat.answers(message)) is not None:
            given.append(id)


def _unpaired(wanted: Counter[str], given: Counter[str]) -> Iterator[tuple[str, str, str]]:
    for id in sorted(wanted - given):
        yield "unanswered_call", id, f"call {id} has no answer in the next request"
    for id in sorted(given - wanted):
        if id in wanted:
            yield "answered_twice", id, f"call {id} is answered {given[id]} times"
        else:
            yield "answer_without_call", id, f"an answer to {id}, which was not asked for before it"


def _valid(asked: Asked) -> Iterator[tuple[str, str, str]]:
    """Each request is valid UTF-8 JSON without NUL."""
    for message in asked.messages:
        written = json.dumps(message, default=repr)
        if "\\u0000" not in written and '"$type"' not in written:
            continue  # the quick look, which most messages pass
        if wrong := _wrong(message):
            role = message.get("role", "a")
            yield "invalid_request", f"{wrong}{message.get('tool_call_id')}", f"{role} message holds {wrong}"


def _wrong(value: Any) -> str:
    """What in a recorded value no request may hold: NUL, or what strict UTF-8 JSON cannot say."""
    if isinstance(value, str):
        return "a NUL character" if "\0" in value else ""
    if isinstance(value, Mapping):
        if "$type" in value:
            whole = value["$type"] == "str" and "$repr" not in value
            return "" if whole else f"a value that is no UTF-8 JSON ({value['$type']})"
        return next((wrong for part in value.items() for each in part if (wrong := _wrong(each))), "")
    if isinstance(value, list | tuple):
        return next((wrong for part in value if (wrong := _wrong(part))), "")
    return ""


def _capped(asked: Asked) -> Iterator[tuple[str, str, str]]:
    """Each result is below the cap."""
    for message in asked.messages:
        id = chat.answers(message)
        if id is not None and (size := chat.length(message.get("content"))) > CAP:
            yield "result_cap", id, f"the result of {id} has {size} characters, more than {CAP}"


def _grown(
    earlier: Sequence[Sequence[Message]], asked: Asked, history: Sequence[Message]
) -> Iterator[tuple[str, str, str]]:
    """Compaction never makes the history larger.

    A history is compacted when it keeps its beginning and fewer messages stand where others stood: what
    was put in between must not be longer than what it replaces. What follows the last message that
    stayed - or, when none did, the first reply - is news. One that goes on from any earlier request (a
    sub-agent's, its caller's) is not compacted, nor is a message that is merely reworded (a clock, a
    count of steps), nor a new conversation that shares no more than its instructions.
    """
    if not earlier or asked.kept == len(earlier[-1]):
        return
    before = max(reversed(earlier), key=lambda each: _common(each, history))
    kept = _common(before, history)
    if kept == 0 or kept == len(before):
        return
    old, new = before[kept:], history[kept:]
    roles = {message.get("role") for message in history[:kept]}
    stayed = next((n for n in range(len(new), 0, -1) if new[n - 1] in old), 0)
    reply = next((n for n, message in enumerate(new) if message.get("role") == "assistant"), None)
    if not stayed and reply is None and "user" not in roles:
        return
    put = [message for message in new[: stayed or reply or 1] if message not in old]
    gone = [message for message in old if message not in new]
    longer = sum(map(chat.length, put)) - sum(map(chat.length, gone))
    if put and len(gone) > len(put) and longer > 0:
        why = f"{len(gone)} messages were replaced by {len(put)} that are {longer} characters longer"
        yield "compaction_grew", str(asked.request), why


def _common(one: Sequence[Message], other: Sequence[Message]) -> int:
    """How many messages at the beginning are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def _dropped(reading: Reading) -> Iterator[Verdict]:
    """Of a reply that asks for several calls, none is left out before it enters the history.

    A reply that does not enter it at all was not taken, and what is left of one that a compaction has been over
    says nothing.
    """
    replies = {
        replied.request: len(calls)
        for _, replied in reading.replied
        if len(calls := chat.asked_for(replied.message)) > 1
    }
    if not replies:
        return
    open_: list[tuple[int, list[Message], int]] = []  # (calls, history they were asked on, request)
    for seq, asked, history in chat.histories(reading):
        for entry in list(open_):
            wanted, before, request = entry
            if len(history) <= len(before) or history[: len(before)] != before:
                continue
            open_.remove(entry)
            kept = sum(len(chat.asked_for(m)) for m in history[len(before) :] if m.get("role") == "assistant")
            if 0 < kept < wanted:
                why = f"of {wanted} calls that reply {request} asks for, the next request shows {kept}"
                yield Verdict("dropped_call", "fail", why, (seq,))
        if asked.request in replies:
            open_.append((replies[asked.request], history, asked.request))


def _marked(reading: Reading) -> Iterator[Verdict]:
    """No argument of a call is cut in the history with a mark in it, which the model would copy."""
    worded: dict[str, Mapping[str, Any]] = {}
    for _, replied in reading.replied:
        for call in chat.asked_for(replied.message):
            worded.setdefault(str(call["id"]), chat.arguments(call))
    said: set[str] = set()
    for seq, asked in reading.asked:
        for call in (call for message in asked.messages for call in chat.asked_for(message)):
            id, shown = str(call["id"]), chat.arguments(call)
            for name, value in worded.get(id, {}).items():
                now = shown.get(name)
                if id in said or now == value or not isinstance(value, str) or not isinstance(now, str):
                    continue
                if len(now) < len(value) and MARK.search(now) and not MARK.search(value):
                    said.add(id)
                    why = f"argument {name} of {id} is shown as {now[-60:]!r}, which the model would copy"
                    yield Verdict("mark_in_arguments", "fail", why, (seq,))


def _misplaced(reading: Reading) -> Iterator[Verdict]:
    """Each result of a batch stands under the id of its own call."""
    if all(len(chat.asked_for(replied.message)) < 2 for _, replied in reading.replied):
        return  # there was no batch
    for step in reading.steps:
        if (other := misplaced(reading, step)) is not None:
            why = f"the result of {step.key} was shown as the answer to {other}, another call of its batch"
            yield Verdict("misplaced_answer", "fail", why, (step.closed or step.seq,))


def _trimmed(reading: Reading) -> Iterator[Verdict]:
    """Where a result was cut before it was shown, something says so: it does not just end early."""
    for step in reading.steps:
        if step.told is None or not step.told.ok or chat.length(step.told.value) < LONG:
            continue
        size, text = chat.length(step.told.value), recorded.words(step.told.value)
        for shown in shown_as(reading, step):
            if len(shown) <= size - LEAST and text.startswith(shown.rstrip()) and shown.strip():
                why = f"of {size} characters of {step.key} the model was shown {len(shown)}, as if they were all"
                yield Verdict("silent_cut", "fail", why, (step.closed or step.seq,))
                break


def _swallowed(reading: Reading, fired: Sequence[Fired]) -> Iterator[Verdict]:
    """A fault marked explicit was seen by the model, or its call was later repeated to success - or done
    another way by the harness itself, whose good result is what the model was shown in its place."""
    steps = {step.call.call: step for step in reading.steps}
    for fault in fired:
        if not fault.explicit or fault.seen != "no" or fault.call not in steps:
            continue
        hit = steps[fault.call]
        again = any(
            step.seq > hit.seq
            and step.told is not None
            and step.told.ok
            and (step.key == hit.key or _instead(reading, hit, step))
            for step in reading.steps
        )
        if not again:
            why = f"the model was never shown what {fault.rule} told, nor was the call repeated to success"
            yield Verdict("swallowed", "fail", why, (fault.event, hit.closed or hit.seq))


def _instead(reading: Reading, hit: Step, step: Step) -> bool:
    """Did the harness make this call by itself, and show its result as the answer to the one that was hit?"""
    own = hit.call.order is not None and step.call.order is None
    text = recorded.words(step.told.value).strip() if own and step.told is not None else ""
    return bool(text) and any(text in shown for shown in shown_as(reading, hit))


def _streamed(reading: Reading) -> Iterator[Verdict]:
    """What an agent streams has a start, deltas that add up to the answer, and a stop, each message of it."""
    for seq, noted in reading.noted:
        messages = noted.detail.get("messages", ()) if noted.what == "stream" else ()
        for number, message in enumerate(messages):
            for why in _astray(message, number == 0, number == len(messages) - 1):
                yield Verdict("broken_stream", "fail", why, (seq,))


def _astray(message: Mapping[str, Any], first: bool, last: bool) -> Iterator[str]:
    if not message["start"] and first:
        yield "what is streamed begins without a start event"
    elif not message["start"]:
        yield f"after the stop event {message['deltas'] or 'no'} deltas and no start event were streamed"
    if not message["stop"] and last:
        yield "no stop event was streamed, though the run ended by itself"
    elif not message["stop"]:
        yield "a message that is streamed begins before the stop event of the one before it"
    said = message.get("said")
    if said is not None and said != message["text"]:
        sizes = f"{chat.length(said)} characters, and the deltas have {chat.length(message['text'])}"
        yield f"the deltas do not add up to the answer that the stop event gives: that has {sizes}"


def _after_end(trace: Trace, reading: Reading) -> Iterator[Verdict]:
    """Nothing of the agent runs or changes the world after its end; what a fault delays is ours."""
    for seq, noted in reading.noted:
        if noted.what in AFTER:
            detail = ", ".join(f"{name}: {value}" for name, value in sorted(noted.detail.items()))
            yield Verdict(noted.what, "fail", f"{detail or 'something'} {AFTER[noted.what]}", (seq,))
    if reading.ended is None:
        return
    late = {step.call.call for step in reading.steps if step.injected and step.seq < reading.ended}
    for seq, called in find(trace, Called):
        if seq > reading.ended:
            yield Verdict("after_end", "fail", f"{called.tool} was called after the end", (seq,))
    for seq, executed in find(trace, Executed):
        if seq > reading.ended and executed.call not in late:
            yield Verdict("after_end", "fail", f"call {executed.call} ran after the end", (seq,))


def _between_turns(reading: Reading) -> Iterator[Verdict]:
    """Nothing of the agent acts between the end of a turn and the user's next message: a run that was cancelled
    takes with it what it has under way. What a fault of the tools delays is ours."""
    ended: int | None = None
    for seq, noted in reading.noted:
        if noted.what == "turn_ended":
            ended = seq
        elif noted.what == "turn" and ended is not None:
            yield from _unasked(reading, ended, seq)
            ended = None


def _cancelled(reading: Reading) -> Iterator[Verdict]:
    """A run that its caller has cancelled asks for nothing more."""
    variants = reading.started.variants if reading.started else {}
    ends = [seq for seq, noted in reading.noted if noted.what == "turn_ended"]
    ends += [] if reading.ended is None else [reading.ended]
    for event, injected in reading.injected:
        if variants.get(injected.rule, {}).get("seam") != "caller":
            continue
        over = next((seq for seq in ends if seq > event), None)
        for step in reading.steps:
            if step.seq > event and over is not None and step.seq < over:
                why = f"{step.call.tool} was called though the caller had cancelled the run"
                yield Verdict("ignored_cancel", "fail", why, (event, step.seq))
                break


def _unasked(reading: Reading, ended: int, began: int) -> Iterator[Verdict]:
    variants = reading.started.variants if reading.started else {}
    for step in reading.steps:
        if ended < step.seq < began:
            why = f"{step.call.tool} was called after the turn had ended"
            yield Verdict("after_turn", "fail", why, (ended, step.seq))
        seams = {variants.get(injected.rule, {}).get("seam") for _, injected in step.injected}
        if seams - {"caller"}:
            continue
        for seq, _ in step.executed:
            if step.seq < ended < seq < began:
                why = f"{step.call.tool} went on and acted after the turn had ended"
                yield Verdict("after_turn", "fail", why, (ended, seq))
