import re

from forge_chaos.solution import json_list, json_with


def values(rng):
    return {"order": f"A{rng.randint(100, 999)}", "amount": rng.randint(20, 900)}


async def solve(task, tools):
    order = re.search(r"Charge order (\w+)", task.prompt)[1]

    def record(text):
        found = json_with("id", "amount", "customer", "status")(text)
        if found["id"] != order or not isinstance(found["amount"], int):
            raise ValueError(f"not the record of {order}")
        return found["amount"]

    async def charged():
        shape = json_list("kind", "order", "amount", "n")
        for _ in range(2):
            entries = await tools.list_ledger(
                kind="charge", order=order, expect=shape, allow={"missing": None}
            )
            if entries is not None:
                return any(entry["order"] == order for entry in entries)
        raise LookupError("the ledger is gone, so nobody can tell what was charged")

    amount = await tools.get_record(table="orders", id=order, expect=record)
    await tools.charge(order=order, amount=amount, check=charged)
    await tools.write_file(path="receipt.txt", text=f"{order} {amount}\n")
    return "DONE"
