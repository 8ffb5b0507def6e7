"""Known-bad: doing the same again because nothing comes of it."""

from __future__ import annotations

from typing import Any

from forge_chaos import reference
from forge_chaos.specimens._loop import Call, Told, arguments, loop, name_of

WRITES = ("write_file", "edit_file", "append_file")


async def relists(task: Any, tools: Any, model: Any) -> str:
    """After a write that failed it lists the folder, again and again, until the file is there."""

    async def perform(tools: Any, call: Call) -> Told:
        told = await reference.perform(tools, call)
        name = str(arguments(call).get("path", "")).rpartition("/")[2]
        while told[1] and name_of(call) in WRITES:
            listed, _ = await reference.use(tools, "list_files", {})
            if f'"{name}"' in listed:
                break
        return told

    return await loop(task, tools, model, perform=perform)


async def goes_in_circles(task: Any, tools: Any, model: Any) -> str:
    """An edit is made, read back and looked for in the folder, round and round until it shows."""

    async def perform(tools: Any, call: Call) -> Told:
        told = await reference.perform(tools, call)
        if name_of(call) != "edit_file":
            return told
        args = arguments(call)
        while True:
            text, _ = await reference.use(tools, "read_file", {"path": args["path"]})
            if str(args["new"]).strip() in text:
                return told
            await reference.use(tools, "list_files", {})
            told = await reference.perform(tools, call)

    return await loop(task, tools, model, perform=perform)


async def guesses(task: Any, tools: Any, model: Any) -> str:
    """A file that is not where it should be is looked for under made-up names, never in its folder."""

    async def perform(tools: Any, call: Call) -> Told:
        told = await reference.perform(tools, call)
        n = 0
        while told[1] and name_of(call) == "read_file" and "FileNotFoundError" in told[0]:
            n += 1
            told = await reference.use(tools, "read_file", {"path": f"{arguments(call)['path']}.{n}"})
        return told

    return await loop(task, tools, model, perform=perform)
