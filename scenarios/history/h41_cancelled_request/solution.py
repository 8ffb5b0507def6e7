import re


def values(rng):
    return {"north": rng.randint(100, 999), "south": rng.randint(100, 999)}


def stock(text):
    return int(re.fullmatch(r"stock: (\d+)\n?", text)[1])


async def solve(task, tools):
    north = await tools.read_file(path="north.txt", expect=stock)
    south = await tools.read_file(path="south.txt", expect=stock)
    await tools.write_file(path="stock.txt", text=f"{north + south}\n")
    return "DONE"
