"""Agents that do a task of one scenario with their own hands: what they get wrong lies in how they go about it."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from typing import Any

from forge_chaos import reference
from forge_chaos.specimens._loop import Call, Told, arguments, loop, name_of

LIMIT = 0.3  # real seconds of a call of a plain function, in a thread of its own
SLOW = "sleep 30 & echo started; wait"


async def rewrites_whole(task: Any, tools: Any) -> str:
    """The file is read, changed in one place and written whole, with whatever else stands in what was read."""
    old = await tools.call("read_file", {"path": "service.ini"})
    new = re.search(r"service\.ini to (\d+)", task.prompt)
    assert new
    text = re.sub(r"^port = \d+", f"port = {new[1]}", old, count=1, flags=re.MULTILINE)
    await tools.call("write_file", {"path": "service.ini", "text": text})
    return "DONE"


async def recodes(task: Any, tools: Any) -> str:
    """A file that is no UTF-8 is written anew, in UTF-8."""
    line = re.search(r"the line `(name: [^`]+)`", task.prompt)
    assert line
    shown = await tools.call("search_files", {"pattern": "name:", "path": "names.lst"})
    lines = [re.sub(r"^names\.lst:\d+: ", "", each) for each in shown.splitlines()]
    await tools.call("write_file", {"path": "names.lst", "text": "\n".join([*lines, line[1]]) + "\n"})
    return "DONE"


async def dies_of_decoding(task: Any, tools: Any, model: Any) -> str:
    """It looks at a file before it adds to it; only errors of the file system are thought of there."""

    async def perform(tools: Any, call: Call) -> Told:
        if name_of(call) == "append_file":
            try:
                await tools.call("read_file", {"path": arguments(call)["path"]})
            except OSError as error:
                return f"{type(error).__name__}: {error}", True
        return await reference.perform(tools, call)

    return await loop(task, tools, model, perform=perform)


async def looks_before(task: Any, tools: Any, model: Any) -> str:
    """The same look, and whatever it raises is only that: no look."""

    async def perform(tools: Any, call: Call) -> Told:
        if name_of(call) == "append_file":
            await reference.use(tools, "read_file", {"path": arguments(call)["path"]})
        return await reference.perform(tools, call)

    return await loop(task, tools, model, perform=perform)


async def edits_blindly(task: Any, tools: Any, model: Any) -> str:
    """An edit that does not fit is tried with other white space, for ever, and the file is not read again."""

    async def perform(tools: Any, call: Call) -> Told:
        told = await reference.perform(tools, call)
        blanks = 0
        while told[1] and name_of(call) == "edit_file":
            blanks += 1
            args = {**arguments(call), "old": " " * blanks + arguments(call)["old"]}
            told = await reference.use(tools, "edit_file", args)
        return told

    return await loop(task, tools, model, perform=perform)


async def forgets_own_hand(task: Any, tools: Any, model: Any) -> str:
    """What has changed since it was read may not be edited, though the change was one's own."""
    return await _guarded(task, tools, model, refreshes=False)


async def knows_own_hand(task: Any, tools: Any, model: Any) -> str:
    """The same guard; an edit of one's own is what is known of the file from then on."""
    return await _guarded(task, tools, model, refreshes=True)


async def _guarded(task: Any, tools: Any, model: Any, *, refreshes: bool) -> str:
    known: dict[str, str] = {}

    async def perform(tools: Any, call: Call) -> Told:
        path = str(arguments(call).get("path"))
        if name_of(call) == "edit_file":
            now, _ = await reference.use(tools, "read_file", {"path": path})
            if known.setdefault(path, now) != now:
                return f"PermissionError: {path} was changed by another hand and may not be edited", True
        told = await reference.perform(tools, call)
        if name_of(call) == "edit_file" and refreshes:
            known[path], _ = await reference.use(tools, "read_file", {"path": path})
        return told

    return await loop(task, tools, model, perform=perform)


def joins_pool(task: Any, tools: Any) -> str:
    """A plain function with a time limit for a call, which leaving the pool of its thread waits past."""
    with ThreadPoolExecutor(1) as pool:
        try:
            text = pool.submit(tools.call, "read_file", {"path": "orders.csv"}).result(LIMIT)
        except Late:
            text = None
    return _total(tools, text)


def leaves_pool(task: Any, tools: Any) -> str:
    """The same limit, and the thread is not waited for."""
    pool = ThreadPoolExecutor(1)
    try:
        text = pool.submit(tools.call, "read_file", {"path": "orders.csv"}).result(LIMIT)
    except Late:
        text = tools.call("read_file", {"path": "orders.csv"})
    finally:
        pool.shutdown(wait=False)
    return _total(tools, text)


def _total(tools: Any, text: str | None) -> str:
    if text is None:
        return "FAILED: orders.csv cannot be read"
    total = sum(int(line.split(",")[1]) for line in text.splitlines()[1:-1])
    tools.call("write_file", {"path": "total.txt", "text": str(total)})
    return "DONE"


async def kills_slow_one(task: Any, tools: Any, model: Any) -> str:
    """A command that starts a child and waits for it is given a second, then the task is done."""
    try:
        await tools.call("run_command", {"command": SLOW, "timeout": LIMIT})
    except TimeoutError:
        return await reference.agent(task, tools, model)
    return "FAILED: the command should have taken longer"


async def leaves_slow_one(task: Any, tools: Any, model: Any) -> str:
    """The command is sent to the background, and what it started is still there at the end."""
    await tools.call("run_command", {"command": "sleep 30 >/dev/null 2>&1 & echo started"})
    return await reference.agent(task, tools, model)


async def limited(task: Any, tools: Any, model: Any) -> str:
    """A batch of writes is staggered, and every member is waited for before a failure is reported."""
    return await loop(task, tools, model, batch=_staggered)


async def _staggered(perform: Any, tools: Any, calls: Any) -> list[Told]:
    async def send(place: int, call: Call) -> Told:
        await asyncio.sleep(place)
        told: Told = await perform(tools, call)
        return told

    return list(await asyncio.gather(*(send(place, call) for place, call in enumerate(calls))))


__all__ = [
    "dies_of_decoding",
    "edits_blindly",
    "forgets_own_hand",
    "joins_pool",
    "kills_slow_one",
    "knows_own_hand",
    "leaves_pool",
    "leaves_slow_one",
    "limited",
    "looks_before",
    "recodes",
    "rewrites_whole",
]
