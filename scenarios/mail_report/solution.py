import re

from forge_chaos.solution import json_list, json_with

RECEIVERS = ("ada", "ben", "cleo", "dan")


def values(rng):
    return {
        "station": f"station{rng.randint(100, 999)}",
        "readings": rng.sample(range(10, 999), 6),
        "to": f"{rng.choice(RECEIVERS)}@example.org",
    }


def whole(text):
    found = json_with("station", "count", "readings")(text)
    if len(found["readings"]) != found["count"]:
        raise ValueError("readings.json is cut off")
    return found


async def solve(task, tools):
    to = re.search(r"\S+@example\.org", task.prompt)[0]
    found = await tools.read_file(path="readings.json", expect=whole)
    station = found["station"]
    line = f"{station}: highest {max(int(number) for number in found['readings'])}"
    await tools.write_file(path="report.txt", text=line + "\n")

    async def mailed():
        shape = json_list("kind", "to", "subject", "text", "n")
        for _ in range(2):
            entries = await tools.list_ledger(kind="mail", expect=shape, allow={"missing": None})
            if entries is not None:
                return any(entry["to"] == to and entry["subject"] == "report" for entry in entries)
        raise LookupError("the ledger is gone, so nobody can tell what was mailed")

    await tools.send_mail(to=to, subject="report", text=line, check=mailed)

    def journal(text):
        lines = text.rstrip("\n").split("\n")
        if lines[0] != f"opened {station}" or lines[1:] not in ([], [f"mailed {station}"]):
            raise ValueError("not the journal")
        return lines[1:]

    async def noted():
        lines = await tools.read_file(path="journal.txt", expect=journal, allow={"missing": None})
        if lines is None:
            raise LookupError("journal.txt is gone, though it was there")
        return bool(lines)

    await tools.append_file(path="journal.txt", text=f"mailed {station}\n", check=noted)
    return "DONE"
