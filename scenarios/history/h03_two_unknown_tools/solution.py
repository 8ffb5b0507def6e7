import re

WORDS = ("hello", "welcome", "greetings", "salutations")


def values(rng):
    return {"word": f"{rng.choice(WORDS)}{rng.randint(10, 99)}"}


async def solve(task, tools):
    word = re.search(r"`(\w+)`", task.prompt)[1]
    await tools.write_file(path="greeting.txt", text=word)
    return "DONE"
