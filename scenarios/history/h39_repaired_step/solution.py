import re

from forge_chaos.solution import csv_rows


def values(rng):
    north, south = ([rng.randint(10, 99) for _ in range(4)] for _ in range(2))
    return {
        "order": f"A{rng.randint(100, 999)}",
        "north_sales": north,
        "south_sales": south,
        "north": sum(north),
        "south": sum(south),
    }


def sold(text):
    *rows, last = csv_rows("id", "amount")(text)
    if last["id"] != "rows" or int(last["amount"]) != len(rows):
        raise ValueError("the file is cut off")
    return sum(int(row["amount"]) for row in rows)


async def solve(task, tools):
    order = re.search(r"Charge order (\w+)", task.prompt)[1]
    north = await tools.read_file(path="north.csv", expect=sold)
    south = await tools.read_file(path="south.csv", expect=sold)
    await tools.charge(order=order, amount=north + south)
    return "DONE"
