import re

from forge_chaos.solution import text


def values(rng):
    return {"word": rng.choice(["amber", "cobalt", "indigo", "ochre"]), "number": rng.randint(1000, 9999)}


def line(task):
    return re.search(r"the line `(\w+ \d+)`", task.prompt)[1]


async def solve(task, tools):
    await tools.write_file(path="page.txt", text=line(task))
    return "DONE"


async def solve_2(task, tools):
    held = await tools.read_file(path="page.txt", expect=text(), allow={"missing": ""})
    if held.strip() != line(task):
        await tools.write_file(path="page.txt", text=line(task))
    return "DONE"
