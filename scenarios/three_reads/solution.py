from forge_chaos.solution import matches

NAMES = ("north", "south", "west")


def values(rng):
    return {name: rng.randint(100, 999) for name in NAMES}


async def solve(task, tools):
    lines = await tools.together(
        *(tools.read_file(path=f"{name}.txt", expect=matches(rf"{name}: \d+ boxes")) for name in NAMES)
    )
    total = sum(int(line.split()[1]) for line in lines)
    await tools.write_file(path="total.txt", text=str(total))
    return "DONE"
