import re

EVENTS = ("started", "stopped", "paused", "resumed")


def values(rng):
    return {"event": f"{rng.choice(EVENTS)} {rng.randint(1000, 9999)}"}


async def solve(task, tools):
    event = re.search(r"`([^`]+)`", task.prompt)[1]
    await tools.append_file(path="events.log", text=f"{event}\n")
    return "DONE"
