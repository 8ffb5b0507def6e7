import re

from forge_chaos.solution import matches


def values(rng):
    before, amount = rng.randint(100, 999), rng.randint(100, 999)
    return {"order": f"O{rng.randint(101, 999)}", "amount": amount, "before": before}


async def solve(task, tools):
    line = re.search(r"`(charged O\d+ \d+)`", task.prompt)[1]
    for _ in range(3):
        log = await tools.run_command(command="cat charges.log", expect=matches(r"(?s).*exit code: 0\s*"))
        if line in log:
            return "DONE"
        await tools.run_command(command=f"echo {line} >> charges.log", expect=matches(r"(?s).*"))
    raise LookupError("the command was told to have run, and its line is not there")
