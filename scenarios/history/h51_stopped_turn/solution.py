import re

from forge_chaos.solution import json_with


def values(rng):
    return {"order": f"A{rng.randint(100, 999)}", "amount": rng.randint(20, 900)}


def amount(text):
    found = json_with("id", "amount", "customer", "status")(text)["amount"]
    if not isinstance(found, int):
        raise ValueError("no amount")
    return found


async def solve(task, tools):
    order = re.search(r"Charge order (\w+)", task.prompt)[1]
    await tools.charge(order=order, amount=await tools.get_record(table="orders", id=order, expect=amount))
    return "DONE"
