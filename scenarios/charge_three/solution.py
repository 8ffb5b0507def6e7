import re

from forge_chaos.solution import json_list


def values(rng):
    numbers = rng.sample(range(100, 999), 3)
    return {"orders": [f"B{number}" for number in numbers], "amounts": rng.sample(range(20, 900), 3)}


async def solve(task, tools):
    def charged(order):
        async def check():
            shape = json_list("kind", "order", "amount", "n")
            for _ in range(2):
                entries = await tools.list_ledger(
                    kind="charge", order=order, expect=shape, allow={"missing": None}
                )
                if entries is not None:
                    return any(entry["order"] == order for entry in entries)
            raise LookupError("the ledger is gone, so nobody can tell what was charged")

        return check

    wanted = re.findall(r"(B\d+) with\s+(\d+)", task.prompt)
    await tools.together(
        *(tools.charge(order=order, amount=int(amount), check=charged(order)) for order, amount in wanted)
    )
    return "DONE"
