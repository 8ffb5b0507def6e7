from forge_chaos.solution import matches


def values(rng):
    return {"number": rng.randint(10000, 99999)}


async def solve(task, tools):
    shown = await tools.run_command(command="cat order.txt", expect=matches(r"order \d+\s+exit code: 0\s*"))
    await tools.run_command(
        command=f"echo {shown.split()[1]} > number.txt", expect=matches(r"\s*exit code: 0\s*")
    )
    return "DONE"
