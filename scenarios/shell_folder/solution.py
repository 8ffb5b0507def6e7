import re

from forge_chaos.solution import matches

WORDS = ("amber", "cobalt", "indigo", "ochre", "scarlet", "umber")


def values(rng):
    return {"word": f"{rng.choice(WORDS)}{rng.randint(100, 999)}"}


def folder(text):
    return re.fullmatch(r"(\S+)\nexit code: 0", text.strip())[1]


async def solve(task, tools):
    word = re.search(r"`echo (\w+) >", task.prompt)[1]
    for _ in range(3):
        await tools.run_command(command="cd site", expect=matches(r"exit code: \d+"))
        if await tools.run_command(command="pwd", expect=folder) != "site":
            continue
        await tools.run_command(command=f"echo {word} > page.txt", expect=matches("exit code: 0"))
        there = await tools.read_file(path="site/page.txt", expect=matches(r"\w+"), allow={"missing": ""})
        if there.strip() == word:
            return "DONE"
    raise LookupError("the command was told to have run, and site/page.txt does not hold the word")
