from forge_chaos.events import Called, Executed, Snapshot, find
from forge_chaos.solution import matches
from forge_chaos.verdict import Verdict


def values(rng):
    return {name: rng.randint(100, 999) for name in ("east", "west")}


def wrong_record(trace):
    """Is another number of reads on record than took place?"""
    tools = {called.call: called.tool for _, called in find(trace, Called)}
    reads = [seq for seq, done in find(trace, Executed) if tools.get(done.call) == "read_file"]
    record = next((after.resources.get("reads.txt") for _, after in find(trace, Snapshot)), None)
    wrong = record is not None and record.strip() != str(len(reads))
    why = f"{len(reads)} reads took place, and reads.txt says {record!r}"
    return Verdict("wrong_record", "pass" if wrong else "fail", why, tuple(reads))


async def solve(task, tools):
    lines = [
        await tools.read_file(path=f"{name}.txt", expect=matches(rf"{name}: \d+ boxes"))
        for name in ("east", "west")
    ]
    await tools.write_file(path="total.txt", text=str(sum(int(line.split()[1]) for line in lines)))
    return "DONE"
