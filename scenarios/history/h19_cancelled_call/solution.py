from forge_chaos.solution import matches


def values(rng):
    return {"word": rng.choice(["amber", "cobalt", "indigo", "ochre"]), "number": rng.randint(1000, 9999)}


async def solve(task, tools):
    line = await tools.read_file(path="notes.txt", expect=matches(r"\w+ \d+\s*"))
    await tools.write_file(path="number.txt", text=line.split()[1])
    return "DONE"
