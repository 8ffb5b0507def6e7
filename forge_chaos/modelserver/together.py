"""Steps of one model turn: sub-coroutines in lockstep, all that they want in one list of calls."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any

from forge_chaos.modelserver.mind import wire
from forge_chaos.modelserver.move import Ask
from forge_chaos.modelserver.trouble import Trouble
from forge_chaos.modelserver.view import Reply


async def together(wanted: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
    """The values in order. A member that is done waits for the others; when one raises Trouble, the
    others are finished first (their calls were asked in the same turn), then the first is raised."""
    values: list[Any] = [None] * len(wanted)
    inbox: dict[int, tuple[Reply, ...] | None] = dict.fromkeys(range(len(wanted)))
    first: Trouble | None = None
    try:
        while inbox:
            asks: dict[int, Ask] = {}
            for index, replies in inbox.items():
                try:
                    asks[index] = _next(wanted[index], replies)
                except StopIteration as end:
                    values[index] = end.value
                except Trouble as trouble:
                    first = first or trouble
            if not asks:
                break
            calls = tuple(call for ask in asks.values() for call in ask.calls)
            replies = await wire(Ask(calls, max(ask.wait for ask in asks.values())))
            inbox, start = {}, 0
            for index, ask in asks.items():
                inbox[index] = replies[start : start + len(ask.calls)]
                start += len(ask.calls)
    finally:
        for member in wanted:
            member.close()
    if first is not None:
        raise first
    return values


def _next(member: Coroutine[Any, Any, Any], replies: tuple[Reply, ...] | None) -> Ask:
    ask: Ask = member.send(replies)
    wait = 0.0
    while not ask.calls:
        wait += ask.wait
        ask = member.send(())
    return Ask(ask.calls, ask.wait + wait)
