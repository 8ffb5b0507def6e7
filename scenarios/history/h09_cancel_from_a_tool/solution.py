from forge_chaos.solution import matches

STATES = ("packed", "sent", "delivered", "returned", "lost")


def values(rng):
    return {"number": rng.randint(1000, 9999), "state": rng.choice(STATES)}


async def solve(task, tools):
    line = await tools.read_file(path="order.txt", expect=matches(r"parcel \d+: \w+\s*"))
    await tools.write_file(path="state.txt", text=line.split()[2])
    return "DONE"
