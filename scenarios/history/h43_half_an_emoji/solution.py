NAMES = ["Zoë", "Łukasz", "Søren", "Ana", "Ōko", "Ines", "Ömer", "José"]


def values(rng):
    return {"guests": rng.sample(NAMES, 4)}


def guests(text):
    *names, last = [line.strip() for line in text.splitlines() if line.strip()]
    if not names or last != f"guests: {len(names)}":
        raise ValueError("the list of guests is not whole")
    return names


async def solve(task, tools):
    names = await tools.read_file(path="guests.txt", expect=guests)
    await tools.write_file(path="table.txt", text=", ".join(names) + "\n")
    return "DONE"
