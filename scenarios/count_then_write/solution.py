import re


def values(rng):
    lines = [
        f"{9 + n // 4:02d}:{rng.randint(10, 59)} {rng.choice(['INFO', 'ERROR'])} request {rng.randint(100, 999)}"
        for n in range(rng.randint(9, 16))
    ]
    return {"log": "visits.log", "lines": lines, "errors": sum(" ERROR " in line for line in lines)}


async def solve(task, tools):
    return f"{await counted(tools)} lines.\nDONE"


async def solve_2(task, tools):
    await tools.write_file(path="errors.txt", text=str(await counted(tools)))
    return "DONE"


def lines(text):
    *found, last = text.splitlines()
    if last != f"end of {len(found)} lines" or not all(
        re.match(r"\d\d:\d\d (INFO|ERROR) ", line) for line in found
    ):
        raise ValueError("visits.log is not whole")
    return found


async def counted(tools):
    found = await tools.read_file(path="visits.log", expect=lines)
    return sum(" ERROR " in line for line in found)
