from forge_chaos.solution import json_list

NAMES = ("app", "cache", "draw", "input", "parse", "table", "util", "zip")
COUNT = 2


def values(rng):
    first, second = (f"{name}{rng.randint(10, 99)}" for name in rng.sample(NAMES, COUNT))
    return {"first": first, "second": second, "count": COUNT}


def objects(text):
    found = [name for name in json_list()(text) if name.endswith(".o")]
    if len(found) != COUNT:
        raise ValueError(f"{len(found)} object files, not {COUNT}")
    return found


async def solve(task, tools):
    for name in await tools.list_files(path="build", expect=objects):
        await tools.delete_file(path=f"build/{name}")
    return "DONE"


async def detour(task, tools):
    names = await tools.list_files(path="build", expect=json_list())
    for name in names or ():
        if name.endswith(".o"):
            await tools.move_file(source=f"build/{name}", destination=f"trash/{name}")
    return "DONE"
