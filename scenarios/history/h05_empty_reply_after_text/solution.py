import re


def values(rng):
    rent, water = rng.randint(500, 999), rng.randint(10, 99)
    return {"rent": rent, "water": water, "total": rent + water}


def amounts(text):
    rent, water = re.findall(r"^\w+: (\d+)$", text, re.M)
    return int(rent), int(water)


async def solve(task, tools):
    await tools.say("My guess is that they come to 7. I will read the file to be sure.")
    rent, water = await tools.read_file(path="bill.txt", expect=amounts)
    return f"They come to {rent + water}."
