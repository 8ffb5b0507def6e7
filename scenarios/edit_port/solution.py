import re


def values(rng):
    old, admin, new = rng.sample(range(2000, 9999), 3)
    return {"old": old, "admin": admin, "new": new}


def settings(text):
    found = re.fullmatch(r"\[server\]\n(.+)\n\[admin\]\n(.+)\n; end\n?", text, re.DOTALL)
    return re.search(r"^port = (\d+)$", found[1], re.MULTILINE)[1]


async def solve(task, tools):
    new = re.search(r"service\.ini to (\d+)", task.prompt)[1]
    old = await tools.read_file(path="service.ini", expect=settings)
    await tools.edit_file(path="service.ini", old=f"port = {old}\n", new=f"port = {new}\n")
    return "DONE"
