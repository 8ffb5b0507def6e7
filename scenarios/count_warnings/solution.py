import re

OUTPUT = re.compile(r"((?:src/\w+\.py:\d+: warning: unfinished\n)*)warnings: (\d+)\nexit code: 0")


def values(rng):
    return {"one": rng.randint(3, 30), "two": rng.randint(3, 30)}


def lint(args, workspace):
    """The command `lint FOLDER` of this scenario's workspace."""
    found = [
        f"{path}:{number}: warning: unfinished"
        for path in workspace.paths()
        if args and path.startswith(f"{args[0]}/")
        for number, line in enumerate(workspace.read(path).decode().splitlines(), 1)
        if line.endswith("# unfinished")
    ]
    return "\n".join([*found, f"warnings: {len(found)}"])


commands = {"lint": lint}


def warnings(text):
    found = OUTPUT.fullmatch(text.strip())
    if found[1].count("\n") != int(found[2]):
        raise ValueError("some warnings are missing")
    return int(found[2])


async def solve(task, tools):
    number = await tools.run_command(command="lint src", expect=warnings)
    await tools.write_file(path="warnings.txt", text=f"{number}\n")
    return "DONE"
