from forge_chaos.solution import json_with

KINDS = ("books", "garden", "kitchen", "toys")


def values(rng):
    """Large and small lines, of the excepted kind and of others: each case of the rule is there."""
    excepted, *others = rng.sample(KINDS, len(KINDS))
    rule = {"percent": rng.randint(5, 30), "from": 100 * rng.randint(40, 60), "except": [excepted]}
    cases = [(excepted, True), (excepted, False), (others[0], True), (others[1], False), (others[2], True)]
    rng.shuffle(cases)
    numbers = rng.sample(range(100, 999), len(cases))
    lines = []
    for number, (kind, large) in zip(numbers, cases, strict=True):
        qty = rng.randint(2, 5)
        price = 100 * (rng.randint(31, 60) if large else rng.randint(1, 7))
        lines.append({"id": f"L{number}", "kind": kind, "price": price, "qty": qty})
    return {"rule": rule, "lines": lines, "bill": billed(lines, rule)}


def billed(lines, rule):
    amounts = {}
    for line in lines:
        amount = line["price"] * line["qty"]
        if amount >= rule["from"] and line["kind"] not in rule["except"]:
            amount -= amount * rule["percent"] // 100
        amounts[line["id"]] = amount
    rows = [f"{id},{amount}" for id, amount in amounts.items()]
    return "\n".join(["id,amount", *rows, f"total,{sum(amounts.values())}"])


def cart(text):
    found = json_with("count", "lines")(text)
    if len(found["lines"]) != found["count"]:
        raise ValueError("cart.json is cut off")
    for line in found["lines"]:
        whole = isinstance(line["price"], int) and isinstance(line["qty"], int)
        if not whole or not line["id"] or not line["kind"]:
            raise ValueError("not the cart")
    return found["lines"]


def discount(text):
    found = json_with("percent", "from", "except")(text)
    whole = isinstance(found["percent"], int) and isinstance(found["from"], int)
    if not whole or not isinstance(found["except"], list) or not found["except"]:
        raise ValueError("not the rule")
    return found


async def solve(task, tools):
    lines = await tools.read_file(path="cart.json", expect=cart)
    rule = await tools.read_file(path="discount.json", expect=discount)
    await tools.write_file(path="bill.csv", text=billed(lines, rule) + "\n")
    return "DONE"
