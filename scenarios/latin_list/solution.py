import base64
import re

NAMES = ("Anton", "Berta", "Emil", "Frieda", "Gustav", "Hilde")


def values(rng):
    return {"name": f"{rng.choice(NAMES)} {rng.randint(100, 999)}"}


def asked(prompt):
    return re.search(r"the line `(name: [^`]+)`", prompt)[1]


async def solve(task, tools):
    line = asked(task.prompt)

    def lines(text):
        found = [re.fullmatch(r"names\.lst:\d+: (name: .+)", each)[1] for each in text.strip().splitlines()]
        if len(found) not in (4, 5) or (len(found) == 5 and found[4] != line):
            raise ValueError("not the list")
        return found[4:]

    async def there():
        added = await tools.search_files(
            pattern="name:", path="names.lst", expect=lines, allow={"missing": None}
        )
        if added is None:
            raise LookupError("names.lst is gone, though it was there")
        return bool(added)

    await tools.append_file(path="names.lst", text=f"{line}\n", check=there)
    return "DONE"


def data(value):
    """The bytes of a file as the trace holds it."""
    return base64.b64decode(value["$b64"]) if isinstance(value, dict) else str(value).encode()


def files(trace):
    """What was asked for, and names.lst before and after; None when it is not there."""
    from forge_chaos.events import Snapshot, Started, find

    started = next(find(trace, Started))[1]
    after = list(find(trace, Snapshot))[-1][1].resources.get("names.lst")
    before = started.resources["names.lst"]
    return asked(started.prompt), data(before), None if after is None else data(after)


def appended(trace):
    line, before, after = files(trace)
    return after in (before + f"{line}\n".encode(), before + line.encode())


def spoiled(trace):
    """Are bytes gone that were there? A file that is away as a whole was taken by another hand."""
    _, before, after = files(trace)
    return after is not None and not after.startswith(before)
