PLACES = ("harbour", "lighthouse", "observatory", "orchard", "quarry", "vineyard")


def values(rng):
    return {"title": f"Handbook of {rng.choice(PLACES)} {rng.randint(100, 999)}"}


def first_line(text):
    lines = text.strip().splitlines()
    if not lines[0].startswith("# ") or lines[-1] != "<!-- end -->":
        raise ValueError("not the whole README")
    return lines[0]


async def solve(task, tools):
    line = await tools.read_file(path="README.md", expect=first_line, allow={"missing": None})
    return f"{line or 'README.md is missing'}\nDONE"
