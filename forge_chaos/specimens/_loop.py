"""The reference agent's loop with its steps to be exchanged: what the specimens are made of.

Every step defaults to what the reference agent does, so a specimen says only where it differs.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any

from forge_chaos import reference

Message = dict[str, Any]
Call = Mapping[str, Any]  # a tool call as the model words it
Told = tuple[str, bool]  # a result as the model is told it, and whether it failed
Perform = Callable[[Any, Call], Coroutine[Any, Any, Told]]


def name_of(call: Call) -> str:
    return str(call["function"]["name"])


def arguments(call: Call) -> dict[str, Any]:
    """The arguments of a call, none where they are no JSON object."""
    try:
        found = json.loads(call["function"]["arguments"])
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


async def together(perform: Perform, tools: Any, calls: Sequence[Call]) -> list[Told]:
    """The results of a batch, run concurrently, in the order of the calls."""
    return list(await asyncio.gather(*(perform(tools, call) for call in calls)))


def answers(calls: Sequence[Call], results: Sequence[Told]) -> list[Message]:
    """The messages that answer a batch: one for each call, under its id."""
    return [answer(call, text) for call, (text, _) in zip(calls, results, strict=True)]


def answer(call: Call, text: str) -> Message:
    return {"role": "tool", "tool_call_id": call["id"], "content": text}


def whole(messages: list[Message]) -> list[Message]:
    """The history, nothing of it left out."""
    return messages


def refused(refusal: Exception) -> str:
    """The last word after the provider has refused for good, or cannot be reached."""
    return f"FAILED: the model refused: {refusal}"


async def ask_last(task: Any, model: Any, messages: list[Message]) -> str:
    """The last word at the step limit: the model is told of it and asked without tools."""
    limit = f"step limit of {task.max_steps} reached"
    told = {"role": "user", "content": f"The {limit}. Answer now, without tools."}
    try:
        last = await reference.complete(model, [*messages, told], [])
    except reference.NO_REPLY:
        return f"FAILED: {limit}"
    return str(last.get("content") or "") or f"FAILED: {limit}"


async def loop(
    task: Any,
    tools: Any,
    model: Any,
    *,
    ask: Callable[..., Awaitable[Message]] = reference.complete,
    receive: Callable[[Message, list[Message]], Message] = reference.with_ids,
    perform: Perform = reference.perform,
    batch: Callable[..., Awaitable[list[Told]]] = together,
    enter: Callable[[Sequence[Call], Sequence[Told]], list[Message]] = answers,
    keep: Callable[[list[Message]], list[Message]] = whole,
    left: Callable[[list[Message]], list[Message]] = reference.unanswered,
    cost: Callable[[Sequence[Call]], int] = len,
    guard: Callable[[], Any] = reference.Guard,
    refused: Callable[[Exception], str] = refused,
    limited: Callable[..., Awaitable[str]] = ask_last,
) -> str:
    """The answer to `task.prompt`. `receive` is a reply as it enters the history, `keep` gives the history that is gone on with, `left` what stands before the user's next message where the turn
    before was cut, `cost` the steps that a batch takes."""
    held: list[Message] = task.session.get("messages", [])
    messages = reference.recent([*held, *left(held)], task.window)
    messages.append({"role": "user", "content": task.prompt})
    watch, steps = guard(), 0
    while steps < task.max_steps:
        messages = task.session["messages"] = keep(messages)
        try:
            reply = await ask(model, messages, tools.specs)
        except reference.NO_REPLY as refusal:
            return refused(refusal)
        messages.append(receive(reply, messages))
        calls = messages[-1].get("tool_calls") or []
        if not calls:
            return str(reply.get("content") or "")
        due = calls[: task.max_steps - steps]
        results = await batch(perform, tools, due)
        results += [(reference.over_limit(task.max_steps), True)] * (len(calls) - len(due))
        steps += cost(due)
        noted = [
            (text + watch.note(call["function"], failed), failed)
            for call, (text, failed) in zip(calls, results, strict=True)
        ]
        messages += enter(calls, noted)
        if watch.ended:
            return f"FAILED: the same call failed {reference.END} times: {watch.ended}"
    return await limited(task, model, messages)


class Watched:
    """A toolbox that keeps what the tools themselves gave: the last value, or the last exception."""

    def __init__(self, tools: Any) -> None:
        self._tools = tools
        self.specs, self.limit = tools.specs, tools.limit
        self.value: Any = None
        self.error: BaseException | None = None

    async def call(self, name: str, args: Mapping[str, Any] | None = None, *, id: str | None = None) -> Any:
        try:
            self.value = await self._tools.call(name, args, id=id)
        except BaseException as error:
            self.error = error
            raise
        return self.value


class Meter(Watched):
    """A toolbox that counts, for a loop whose calls may each take several steps."""

    def __init__(self, tools: Any) -> None:
        super().__init__(tools)
        self._calls = 0

    async def call(self, name: str, args: Mapping[str, Any] | None = None, *, id: str | None = None) -> Any:
        self._calls += 1
        return await super().call(name, args, id=id)

    def taken(self, calls: Sequence[Call]) -> int:
        """The steps since this was asked last: those that this batch has taken."""
        taken, self._calls = self._calls, 0
        return taken


def worded(word: Callable[[Any], str]) -> Perform:
    """Calls whose good results are put into words by `word`. What that raises, the call raises."""

    async def perform(tools: Any, call: Call) -> Told:
        watched = Watched(tools)
        text, failed = await reference.perform(watched, call)
        return (text, True) if failed else (word(watched.value), False)

    return perform
