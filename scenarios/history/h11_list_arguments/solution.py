import re


def values(rng):
    return {"day": rng.randint(100, 999)}


def name(text):
    (found,) = re.findall(r"day-\d+\.log", text)
    return found


async def solve(task, tools):
    found = await tools.list_files(path="logs/old", expect=name)
    await tools.delete_file(path="logs/old")
    return f"Removed {found}.\nDONE"
