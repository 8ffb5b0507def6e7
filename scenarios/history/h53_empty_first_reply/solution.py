from forge_chaos.solution import matches


def values(rng):
    return {"reading": rng.randint(1000, 9999)}


async def solve(task, tools):
    line = await tools.read_file(path="meter.txt", expect=matches(r"reading: \d+ kWh"))
    await tools.write_file(path="bill.txt", text=line.split()[1])
    return "DONE"
