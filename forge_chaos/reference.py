"""The reference agent: an ordinary tool loop that does everything right.

It is a native agent (see `agent`), nothing in it is known only to forge-chaos, and an author may start
from a copy. What it gets right, and what the faults are about:

- every call is answered exactly once, under its id, in the order of the calls; a batch runs concurrently
- an error goes back to the model with its type and text; an exception never ends the run
- a call that takes too long is answered as such
- arguments that are no JSON object, and unknown tools, are answered and never executed
- results are cleaned and capped where they enter the history, and only there
- equal failing calls are warned of, then ended; the step limit is told to the model at the end
- calls that come without an id, or under one that is taken, get an id of their own
- a further message of the user's goes on in the same history; calls that a cancelled turn has left open are
  answered first, as what nobody knows the outcome of
- a budget is never overrun: every reply counts, also one that is of no use
- a provider's refusal, or no answer from it, is retried twice - after the time that it asks to wait, if that
  is not too long - then told
"""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from forge_chaos.modelserver.errors import ProviderError

CAP = 100_000
ROOM = 100  # of the cap, for the guard's warning
SECONDS = 30.0
WARN, END = 3, 5
RETRIES = 2
PAUSE = 1.0
PATIENCE = 60.0  # seconds that a provider may ask to wait
CANCELLED = "CancelledError: the turn was cancelled by the user; whether this took effect is not known"
NO_REPLY = (ProviderError, ConnectionError, TimeoutError)  # refused, or the answer never came


async def agent(task: Any, tools: Any, model: Any) -> str:
    """The answer to `task.prompt`, worked out with `tools` in at most `task.max_steps` tool calls."""
    messages: list[dict[str, Any]] = task.session.setdefault("messages", [])
    messages += unanswered(messages)
    old = len(messages) - len(recent(messages, task.window))  # messages that are not shown in this turn
    messages.append({"role": "user", "content": task.prompt})
    guard, steps = Guard(), 0
    model = model if task.max_cost is None else Paid(model, task.max_cost, task.price)
    while steps < task.max_steps:
        try:
            reply = await complete(model, messages[old:], tools.specs)
        except NO_REPLY as refusal:
            return f"FAILED: the model refused: {_line(str(refusal))}"
        messages.append(with_ids(reply, messages))
        calls = messages[-1].get("tool_calls") or []
        if not calls:
            return str(reply.get("content") or "")
        due = calls[: task.max_steps - steps]
        results = await asyncio.gather(*(perform(tools, call) for call in due))
        results += [(over_limit(task.max_steps), True)] * (len(calls) - len(due))
        steps += len(due)
        for call, (text, failed) in zip(calls, results, strict=True):
            text += guard.note(call["function"], failed)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
        if guard.ended:
            return f"FAILED: the same call failed {END} times: {_line(guard.ended)}"
    limit = f"step limit of {task.max_steps} reached"
    messages.append({"role": "user", "content": f"The {limit}. Answer now, without tools."})
    try:
        last = await complete(model, messages[old:], [])
    except NO_REPLY:
        return f"FAILED: {limit}"
    return str(last.get("content") or "") or f"FAILED: {limit}"


def recent(messages: list[dict[str, Any]], window: int | None) -> list[dict[str, Any]]:
    """The newest `window` messages of a session, without results whose calls are older."""
    start = 0 if window is None else max(0, len(messages) - window)
    while start and start < len(messages) and messages[start].get("role") == "tool":
        start += 1
    return messages[start:]


def unanswered(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Answers to the calls that a turn has left open: no model may be asked before they are there."""
    answered = {message.get("tool_call_id") for message in messages}
    return [
        {"role": "tool", "tool_call_id": call["id"], "content": CANCELLED}
        for call in (messages[-1].get("tool_calls") or [] if messages else [])
        if call["id"] not in answered
    ]


async def complete(model: Any, messages: list[dict[str, Any]], specs: list[dict[str, Any]]) -> dict[str, Any]:
    """One assistant message. Raises the third of NO_REPLY: of a refusal for good, too, since whatever
    broke the request on its way may pass. An empty reply counts as a refusal, and so does a wait of more than
    PATIENCE seconds."""
    for attempt in range(RETRIES + 1):
        try:
            reply: dict[str, Any] = await model.complete(messages, specs)
        except NO_REPLY as refusal:
            asked = refusal.retry_after if isinstance(refusal, ProviderError) else 0.0
            if attempt == RETRIES or asked > PATIENCE:
                raise
            may_pass = not isinstance(refusal, ProviderError) or refusal.transient
            await asyncio.sleep(max(asked, PAUSE * 2**attempt) if may_pass else 0)
            continue
        if reply.get("content") or reply.get("tool_calls"):
            return reply
    raise ProviderError(200, b'{"error": {"message": "an empty reply"}}')


class Paid:
    """A model that is asked no more once its replies have come to what may be spent. Raises the first of NO_REPLY
    then."""

    def __init__(self, model: Any, most: float, price: float) -> None:
        self._model, self._left, self._price = model, most, price

    async def complete(self, messages: Any, specs: Any) -> dict[str, Any]:
        if self._left <= 0:
            raise ProviderError(402, b'{"error": {"message": "the budget of this run is spent"}}')
        reply: dict[str, Any] = await self._model.complete(messages, specs)
        self._left -= self._price
        return reply


def with_ids(reply: dict[str, Any], messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The reply with an id of its own for each of its calls. Some models give none, or the same one twice: then
    a result could not be told from another's."""
    taken = {call["id"] for message in messages for call in message.get("tool_calls") or ()}
    calls = []
    for n, call in enumerate(reply.get("tool_calls") or ()):
        id = call.get("id")
        if not id or id in taken:
            id = f"own_{len(messages)}_{n}"
        taken.add(id)
        calls.append({**call, "id": id})
    return {**reply, "tool_calls": calls} if calls else reply


async def perform(tools: Any, call: Mapping[str, Any]) -> tuple[str, bool]:
    """The result of one call of the model, worded, and whether it failed."""
    name, known = (
        call["function"]["name"],
        {spec["function"]["name"]: spec["function"] for spec in tools.specs},
    )
    if name not in known:
        return f"LookupError: no tool {name!r}. The tools are: {', '.join(known)}", True
    try:
        arguments = json.loads(call["function"]["arguments"] or "{}")
    except (ValueError, RecursionError) as error:
        arguments, why = None, f": {error}"
    else:
        why = ""
    if not isinstance(arguments, dict):
        takes = ", ".join(known[name].get("parameters", {}).get("properties", {}))
        return f"ValueError: the arguments are no JSON object{why}. {name} takes: {takes}", True
    return await use(tools, name, arguments, call["id"])


async def use(tools: Any, name: str, arguments: Mapping[str, Any], id: str | None = None) -> tuple[str, bool]:
    """Call one tool: its result as the model is told it, and whether it failed."""
    seconds = tools.limit(name) if hasattr(tools, "limit") else SECONDS
    try:
        async with asyncio.timeout(seconds) as clock:
            value = await tools.call(name, dict(arguments), id=id)
    except asyncio.CancelledError as error:
        # Our own cancellation ends the run; one that the tool raised by itself is an error like others.
        current = asyncio.current_task()
        if current is None or current.cancelling():
            raise
        return worded(error), True
    except TimeoutError as error:
        return (
            f"TimeoutError: no answer within {seconds:g} seconds" if clock.expired() else worded(error)
        ), True
    except (Exception, SystemExit) as error:
        return worded(error), True
    return worded(value), False


def over_limit(steps: int) -> str:
    """The answer to a call that is over the step limit."""
    return f"not executed: the limit of {steps} steps is reached"


def worded(value: Any) -> str:
    """A result as text for the history: valid UTF-8 without NUL, below CAP characters."""
    try:
        text = _text(value)
    except Exception as error:  # it refers to itself, or its own __str__ is broken
        text = f"a {type(value).__name__} that cannot be shown: {type(error).__name__}"
    text = text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    if len(text) <= CAP - ROOM:
        return text
    mark = f"\n[... {len(text)} characters in all, the middle is left out ...]\n"
    half = (CAP - ROOM - len(mark)) // 2
    return text[:half] + mark + text[-half:]


def _text(value: Any) -> str:
    if isinstance(value, BaseException):
        text = str(value)
        return f"{type(value).__name__}: {text}" if text else type(value).__name__
    if isinstance(value, str):
        return value or "(no output)"
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> Any:
    """`value` as strict JSON: what JSON cannot hold becomes text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((_plain(item) for item in value), key=str)
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "replace")
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)


class Guard:
    """Counts equal failing calls, from the last time that they or any new call succeeded. Polling
    succeeds, so it passes."""

    def __init__(self) -> None:
        self._failed: Counter[str] = Counter()
        self._succeeded: set[str] = set()
        self.ended = ""

    def note(self, function: Mapping[str, Any], failed: bool) -> str:
        """Take note of a result; gives the warning to add to it. `ended` names the call that was too much."""
        key = _key(function)
        if not failed:
            if key not in self._succeeded:
                self._failed.clear()
            self._failed.pop(key, None)
            self._succeeded.add(key)
            return ""
        self._failed[key] += 1
        if self._failed[key] >= END:
            self.ended = f"{function['name']}({function['arguments']})"
        return (
            f"\n[This call has failed {WARN} times. Try something else.]" if self._failed[key] == WARN else ""
        )


def _key(function: Mapping[str, Any]) -> str:
    try:
        return json.dumps([function["name"], json.loads(function["arguments"])], sort_keys=True)
    except (ValueError, RecursionError):
        return json.dumps([function["name"], function["arguments"]])


def _line(text: str) -> str:
    return " ".join(text.split())[:300]
