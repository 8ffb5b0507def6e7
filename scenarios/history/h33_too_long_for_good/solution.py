from forge_chaos.solution import matches


def values(rng):
    return {"code": rng.randint(10000, 99999)}


async def solve(task, tools):
    said, path = "next", "note1.txt"
    while said == "next":
        line = await tools.read_file(path=path, expect=matches(r"next: note\d\.txt|code: \d+"))
        said, path = line.strip().split(": ")
    return f"code: {path}\nDONE"
