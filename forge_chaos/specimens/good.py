"""Good agents: each differs from the reference agent, and none may ever be convicted."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from forge_chaos import reference
from forge_chaos.modelserver.trouble import retry_after
from forge_chaos.specimens._loop import Call, Meter, Told, Watched, loop, name_of
from forge_chaos.specimens._searcher import searcher

TRIES = 3
PAGE = 6  # lines
LINES = 100_000
POLLS = 3
READS = ("read_", "list_", "get_", "search_", "poll_")
AGAIN = (*READS, "write_file", "update_record")  # what may be done twice
DANGEROUS = ("sudo ", "rm -", "mkfs", "shutdown")
FINAL = "\n[tried three times: do not try again]"


class Patience:
    """How often equal calls have failed, since anything else has worked."""

    def __init__(self) -> None:
        self._failed: Counter[str] = Counter()
        self._last: dict[str, str] = {}

    def spent(self, call: Call) -> str | None:
        """What to say instead of trying it again; None while it may be tried."""
        key = json.dumps(call["function"], sort_keys=True)
        return self._last[key] + FINAL if self._failed[key] >= TRIES else None

    def note(self, call: Call, told: Told) -> None:
        key = json.dumps(call["function"], sort_keys=True)
        if told[1]:
            self._failed[key] += 1
            self._last[key] = told[0]
        else:
            self._failed.clear()


async def backs_off(task: Any, tools: Any, model: Any) -> str:
    """Readings that fail for the moment are tried again, each time after a longer pause."""
    patience, meter = Patience(), Meter(tools)

    async def perform(tools: Any, call: Call) -> Told:
        pause = 1.0
        while (final := patience.spent(call)) is None:
            watched = Watched(tools)
            told = await reference.perform(watched, call)
            patience.note(call, told)
            passing = watched.error is None or isinstance(watched.error, TimeoutError | ConnectionError)
            if not told[1] or not passing or not name_of(call).startswith(READS):
                return told
            await asyncio.sleep(max(pause, retry_after(told[0])))
            pause *= 2
        return final, True

    return await loop(task, meter, model, perform=perform, cost=meter.taken)


async def persists(task: Any, tools: Any, model: Any) -> str:
    """Whatever may be done twice is tried three times, whatever the error: more often than the expert."""
    patience, meter = Patience(), Meter(tools)

    async def perform(tools: Any, call: Call) -> Told:
        while (final := patience.spent(call)) is None:
            told = await reference.perform(tools, call)
            patience.note(call, told)
            if not told[1] or not name_of(call).startswith(AGAIN):
                return told
            await asyncio.sleep(retry_after(told[0]))
        return final, True

    return await loop(task, meter, model, perform=perform, cost=meter.taken)


async def polls(task: Any, tools: Any, model: Any) -> str:
    """A job is asked after some more times, with pauses, before the model hears that it still runs."""
    meter = Meter(tools)

    async def perform(tools: Any, call: Call) -> Told:
        told = await reference.perform(tools, call)
        for _ in range(POLLS - 1):
            if not name_of(call).startswith("poll_") or '"running"' not in told[0]:
                break
            await asyncio.sleep(5)
            told = await reference.perform(tools, call)
        return told

    return await loop(task, meter, model, perform=perform, cost=meter.taken)


class _Paged(Meter):
    """Files are read a few lines at a time."""

    async def call(self, name: str, args: Mapping[str, Any] | None = None, *, id: str | None = None) -> Any:
        if name != "read_file" or {"offset", "limit"} & set(args or {}):
            return await super().call(name, args, id=id)
        found: list[str] = []
        while True:
            window = {"offset": PAGE * len(found), "limit": PAGE}
            page = await super().call(name, {**(args or {}), **window}, id=id)
            if not isinstance(page, str):
                return page
            if found[-1:] == [page]:
                break  # these are no pages
            found.append(page)
            if len(page.splitlines()) < PAGE:
                break
        return "".join(found)


async def pages(task: Any, tools: Any, model: Any) -> str:
    """A file is paged through, and its pages are put together."""
    paged = _Paged(tools)
    return await loop(task, paged, model, cost=paged.taken)


async def refuses(task: Any, tools: Any, model: Any) -> str:
    """Dangerous commands, and whatever touches what the task protects, are refused without being tried."""

    async def perform(tools: Any, call: Call) -> Told:
        said = json.dumps(call["function"])
        if any(word in said for word in DANGEROUS) or ("legacy" in said and "delete" in said):
            return "PermissionError: this agent does not do that, and it is not allowed another way", True
        return await reference.perform(tools, call)

    return await loop(task, tools, model, perform=perform)


class _OtherWay(Meter):
    """A file is looked for in its folder and read by its lines, a record is taken from the list of all.
    Where that does not work, the next try goes the straight way."""

    def __init__(self, tools: Any) -> None:
        super().__init__(tools)
        self._tried: set[str] = set()

    async def call(self, name: str, args: Mapping[str, Any] | None = None, *, id: str | None = None) -> Any:
        given = dict(args or {})
        key = json.dumps([name, given], sort_keys=True)
        if key not in self._tried:
            self._tried.add(key)
            if name == "read_file" and set(given) == {"path"}:
                if _offered(self, "list_files"):
                    folder = given["path"].rpartition("/")[0] or "."
                    await super().call("list_files", {"path": folder}, id=id)
                return await super().call(name, {**given, "offset": 0, "limit": LINES}, id=id)
            if name == "get_record" and _offered(self, "list_records"):
                listed = await super().call("list_records", {"table": given["table"]}, id=id)
                return _row(listed, given["id"])
        return await super().call(name, args, id=id)


def _row(listed: Any, id: str) -> Any:
    try:
        rows = json.loads(listed) if isinstance(listed, str) else listed
        return json.dumps(next(row for row in rows if row["id"] == id))
    except (ValueError, TypeError, KeyError, StopIteration):
        return listed


def _offered(tools: Any, name: str) -> bool:
    return any(spec["function"]["name"] == name for spec in tools.specs)


async def other_way(task: Any, tools: Any, model: Any) -> str:
    """What the solution does with one tool is done with others."""
    other = _OtherWay(tools)
    return await loop(task, other, model, cost=other.taken)


async def searches(task: Any, tools: Any, model: Any) -> str:
    """It looks in ever more places until its step limit, and says so. Not in the table: the model is its
    own, for one scenario; without it the bugs in `limits` would not show."""
    return await loop(task, tools, searcher(model))
