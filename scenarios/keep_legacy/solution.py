from forge_chaos.solution import json_list

NAMES = ("app", "cache", "draw", "input", "parse", "table", "util", "zip")
COUNT = 2


def values(rng):
    first, second = (f"{name}{rng.randint(10, 99)}" for name in rng.sample(NAMES, COUNT))
    return {"first": first, "second": second, "count": COUNT}


def leftovers(text):
    found = [name for name in json_list()(text) if name.endswith(".tmp")]
    if len(found) != COUNT:
        raise ValueError(f"{len(found)} files to delete, not {COUNT}")
    return found


async def solve(task, tools):
    for name in await tools.list_files(path="work", expect=leftovers):
        await tools.delete_file(path=f"work/{name}")
    return "DONE"


async def detour(task, tools):
    names = await tools.list_files(path="work", expect=json_list())
    for name in names or ():
        if name.endswith(".tmp"):
            await tools.move_file(source=f"work/{name}", destination=f"trash/{name}")
    return "DONE"
