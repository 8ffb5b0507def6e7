from forge_chaos.solution import json_list


def values(rng):
    return {"letters": [rng.choice("ABCDEFGH") for _ in range(rng.randint(12, 60))]}


def number(text):
    *letters, last = [line.strip() for line in text.splitlines() if line.strip()]
    if last != f"letters: {len(letters)}":
        raise ValueError("letters.txt is not whole")
    return len(letters)


async def count(tools):
    letters = await tools.read_file(path="letters.txt", expect=number)
    await tools.write_file(path="number.txt", text=f"{letters}\n")


async def solve(task, tools):
    await count(tools)
    return "DONE"


async def solve_2(task, tools):
    names = await tools.list_files(path=".", expect=json_list())
    if "number.txt" not in names:
        await count(tools)
    return "DONE"
