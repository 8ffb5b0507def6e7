import json
import re

from forge_chaos.solution import json_with

WORDS = ("Harbour", "Lantern", "Meadow", "Orchard", "Quarry", "Thicket", "Valley", "Willow")
KINDS = ("missing", "refused", "unclear", "transient", "blind")


def values(rng):
    numbers, words = rng.sample(range(10, 99), 3), rng.sample(WORDS, 3)
    return {
        "ids": [f"P{number}" for number in numbers],
        "titles": [f"{word} {rng.randint(100, 999)}" for word in words],
    }


def page_of(id):
    def check(text):
        found = json_with("id", "title", "state")(text)
        if found["id"] != id or not isinstance(found["title"], str) or found["state"] != "published":
            raise ValueError(f"not the page {id}")
        return found["title"]

    return check


async def solve(task, tools):
    ids = re.search(r"records (P\d+), (P\d+) and (P\d+)", task.prompt).groups()
    titles = await tools.together(
        *(
            tools.get_record(table="pages", id=id, expect=page_of(id), allow=dict.fromkeys(KINDS, "unknown"))
            for id in ids
        )
    )
    lines = [f"{id}: {title}" for id, title in zip(ids, titles, strict=True)]
    await tools.write_file(path="titles.txt", text="\n".join(lines) + "\n")
    return "DONE"


def told(trace, id):
    """Was the agent given this record whole, or did it never ask for it?"""
    from forge_chaos.events import Called, Returned, find

    calls = [called.call for _, called in find(trace, Called) if id in called.args.values()]
    for _, returned in find(trace, Returned):
        if returned.call in calls and returned.result.ok:
            try:
                page_of(id)(returned.result.value)
            except Exception:  # damaged data breaks the check in any way it likes
                continue
            return True
    return not calls


def known_or_unknown(trace):
    """Each line has its title, or says `unknown` of a record that was asked for in vain."""
    from forge_chaos.events import Snapshot, Started, find

    started = next(find(trace, Started))[1]
    after = list(find(trace, Snapshot))[-1][1].resources
    ids = re.search(r"records (P\d+), (P\d+) and (P\d+)", started.prompt).groups()
    lines = str(after.get("titles.txt")).strip().split("\n")
    if len(lines) != len(ids):
        return False
    for id, line in zip(ids, lines, strict=True):
        row = started.resources[f"record:pages/{id}"]
        title = (json.loads(row) if isinstance(row, str) else row)["title"]
        if line != f"{id}: {title}" and (line != f"{id}: unknown" or told(trace, id)):
            return False
    return True
