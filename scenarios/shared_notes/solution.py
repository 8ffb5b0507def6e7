import re

END = "-- end of notes --"
PROJECTS = ("anvil", "beacon", "compass", "dynamo", "engine")
SUBJECTS = ("the door", "the gate", "the lamp", "the lock", "the roof", "the stair", "the wall", "the well")


def values(rng):
    subjects = rng.sample(SUBJECTS, 4)
    notes = [f"{subject} was seen to on day {rng.randint(10, 99)}" for subject in subjects]
    return {"project": f"{rng.choice(PROJECTS)}{rng.randint(10, 99)}", "note": notes.pop(), "notes": notes}


def whole(text):
    first, *notes, last = text.rstrip("\n").split("\n")
    if not first.startswith("# notes of ") or last != END or not all(note.strip() for note in notes):
        raise ValueError("notes.txt is cut off or damaged")
    return [first, *notes]


async def solve(task, tools):
    note = re.search(r"the note `([^`]+)`", task.prompt)[1]
    for _ in range(3):
        lines = await tools.read_file(path="notes.txt", expect=whole)
        if note in lines:
            return "DONE"
        text = "\n".join([*lines, note, END]) + "\n"
        if await tools.write_file(path="notes.txt", text=text, allow={"stale": "stale"}) != "stale":
            return "DONE"
    raise LookupError("others change notes.txt faster than it can be read and written")


def added(trace):
    """The note stands there once, with all that was there before, between first and last line."""
    from forge_chaos.events import Snapshot, Started, find

    started = next(find(trace, Started))[1]
    after = list(find(trace, Snapshot))[-1][1].resources.get("notes.txt")
    if not isinstance(after, str):
        return False
    note = re.search(r"the note `([^`]+)`", started.prompt)[1]
    before = started.resources["notes.txt"].strip().split("\n")
    lines = after.strip().split("\n")
    kept = [line for line in lines if line in before]
    return lines.count(note) == 1 and kept == before and lines[0] == before[0] and lines[-1] == END


def lost(trace):
    """Did the agent write notes.txt without a note that was in it by then, of the beginning or of another hand?"""
    from forge_chaos.events import Called, Executed, Injected, Started, find

    started = next(find(trace, Started))[1]
    known = started.resources["notes.txt"].strip().split("\n")
    done = [executed.call for _, executed in find(trace, Executed) if executed.result.ok]
    added = [(seq, str(each.detail["line"])) for seq, each in find(trace, Injected) if "line" in each.detail]
    for seq, called in find(trace, Called):
        if called.tool == "write_file" and called.target == "notes.txt" and called.call in done:
            text = str(called.args.get("text"))
            there = [*known, *(line for when, line in added if when < seq)]
            if not all(line in text for line in there):
                return True
    return False
