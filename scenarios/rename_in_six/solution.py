import re

from forge_chaos.solution import json_list

OLD = ("Meridian", "Northway", "Quayside", "Starling")
NEW = ("Bluewater", "Longreach", "Overland", "Tidemark")


def values(rng):
    return {
        "old": f"{rng.choice(OLD)}{rng.randint(10, 99)}",
        "new": f"{rng.choice(NEW)}{rng.randint(10, 99)}",
    }


def six(text):
    names = json_list()(text)
    if len(names) != 6 or not all(name.endswith(".txt") for name in names):
        raise ValueError("not the six files")
    return names


async def solve(task, tools):
    old = re.search(r"The name (\w+) stands", task.prompt)[1]
    new = re.search(r"Put (\w+)", task.prompt)[1]
    for name in await tools.list_files(path="pages", expect=six):
        await tools.edit_file(path=f"pages/{name}", old=old, new=new)
    return "DONE"
