from forge_chaos.solution import matches, text


def values(rng):
    return {"number": rng.randint(1000, 9999)}


def announce(args, workspace):
    workspace.write("announced.txt", args[0].encode())
    return "announced\n"


commands = {"announce": announce}


async def solve(task, tools):
    page, _ = await tools.together(
        tools.read_file(path="page.txt", expect=matches(r"page \d+\s*")),
        tools.run_command(command="announce page.txt", expect=text()),
    )
    return f"It is page {page.split()[1]}.\nDONE"
