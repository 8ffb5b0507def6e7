from forge_chaos.solution import matches

NAMES = ("Ada", "Edsger", "Grace", "Tony")


def values(rng):
    return {"name": f"{rng.choice(NAMES)}{rng.randint(100, 999)}"}


async def solve(task, tools):
    line = await tools.read_file(path="name.txt", expect=matches(r"name: \w+"))
    await tools.write_file(path="badge.txt", text=line.split()[1])
    return "DONE"
