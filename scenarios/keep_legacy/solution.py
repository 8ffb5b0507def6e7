import re

NAMES = ("app", "cache", "draw", "input", "parse", "table", "util", "zip")


def values(rng):
    first, second = (f"{name}{rng.randint(10, 99)}" for name in rng.sample(NAMES, 2))
    return {"first": first, "second": second}


def leftovers(task):
    return re.findall(r"work/(\w+\.tmp)", task.prompt)


async def solve(task, tools):
    for name in leftovers(task):
        await tools.delete_file(path=f"work/{name}")
    return "DONE"


async def detour(task, tools):
    for name in leftovers(task):
        await tools.move_file(source=f"work/{name}", destination=f"trash/{name}")
    return "DONE"
