import re


def values(rng):
    today, tomorrow = rng.sample(range(10, 40), 2)
    return {"today": today, "tomorrow": tomorrow}


def days(text):
    found = dict(re.findall(r"^(\w+): (\d+)$", text, re.M))
    if list(found) != ["today", "tomorrow"]:
        raise ValueError("no weather of two days")
    return found


async def solve(task, tools):
    found = await tools.read_file(path="weather.txt", expect=days)
    return f"Today has {found['today']} degrees."


async def solve_2(task, tools):
    found = await tools.read_file(path="weather.txt", expect=days)
    return f"Tomorrow has {found['tomorrow']} degrees."
