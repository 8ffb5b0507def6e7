import re


def values(rng):
    return {"version": ".".join(str(rng.randint(1, 40)) for _ in range(3))}


def settings(text):
    found = re.fullmatch(
        r'# settings [^\n]+\n.*^version = "(\d+\.\d+\.\d+)"$.*\n# end of app\.toml\n?',
        text,
        re.DOTALL | re.MULTILINE,
    )
    return found[1]


async def solve(task, tools):
    version = await tools.read_file(path="conf/app.toml", expect=settings)
    await tools.write_file(path="out/version.txt", text=f"{version}\n")
    return "DONE"
