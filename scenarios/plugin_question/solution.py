NAMES = ("atlas", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron")


def values(rng):
    return {"name": f"{rng.choice(NAMES)}{rng.randint(10, 99)}", "version": f"1.{rng.randint(2, 9)}"}


def readme(text):
    lines = text.strip().splitlines()
    if not lines[0].startswith("# ") or lines[-1] != "<!-- end -->":
        raise ValueError("not the whole README")
    return lines


async def solve(task, tools):
    lines = await tools.read_file(path="README.md", expect=readme)
    name, text = lines[0].removeprefix("# "), " ".join(lines).lower()
    if "plug-in" in text or "plugin" in text:
        return f"FAILED: README.md of {name} speaks of plug-ins; a person must read it"
    return f"{name}: cannot be confirmed\nDONE"
