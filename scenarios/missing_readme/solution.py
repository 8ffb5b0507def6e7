import re

MISSING = re.compile(r"not_found|no such|not found|directory|enoent|eisdir", re.IGNORECASE)
PLACES = ("harbour", "lighthouse", "observatory", "orchard", "quarry", "vineyard")


def values(rng):
    return {"title": f"Handbook of {rng.choice(PLACES)} {rng.randint(100, 999)}"}


def first_line(text):
    lines = text.strip().splitlines()
    if not lines[0].startswith("# ") or lines[-1] != "<!-- end -->":
        raise ValueError("not the whole README")
    return lines[0]


def looked_missing(trace):
    """Was the agent told that README.md is not there, by a reading or by a listing?"""
    from forge_chaos.events import Called, Returned, find

    calls = {called.call: called for _, called in find(trace, Called)}
    for _, returned in find(trace, Returned):
        called, told = calls[returned.call], returned.result
        listing = called.tool == "list_files" and called.target == "." and told.ok
        if listing and "README.md" not in str(told.value):
            return True
        if called.target == "README.md" and told.error and MISSING.search(str(told.error)):
            return True
    return False


async def solve(task, tools):
    line = await tools.read_file(path="README.md", expect=first_line, allow={"missing": None})
    return f"{line or 'README.md is missing'}\nDONE"
