from forge_chaos.solution import json_with

CUSTOMERS = ("Ada", "Ben", "Cleo", "Dan", "Eve")


def values(rng):
    numbers = rng.sample(range(1000, 9999), 5)
    payments = [
        {"txn": f"T{number}", "customer": customer, "amount": rng.randint(10, 500)}
        for number, customer in zip(numbers, CUSTOMERS, strict=True)
    ]
    for again in rng.sample(payments, 2):
        payments.insert(rng.randint(payments.index(again) + 1, len(payments)), dict(again))
    return {"payments": payments, "unique": table(payments)}


def table(payments):
    kept = {}
    for payment in payments:
        kept.setdefault(payment["txn"], payment)
    lines = [f"{one['txn']},{one['customer']},{one['amount']}" for one in kept.values()]
    total = sum(one["amount"] for one in kept.values())
    return "\n".join(["txn,customer,amount", *lines, f"total,,{total}"])


def whole(text):
    found = json_with("count", "payments")(text)
    if len(found["payments"]) != found["count"]:
        raise ValueError("payments.json is cut off")
    return [{name: one[name] for name in ("txn", "customer", "amount")} for one in found["payments"]]


async def solve(task, tools):
    payments = await tools.read_file(path="payments.json", expect=whole)
    await tools.write_file(path="unique.csv", text=table(payments) + "\n")
    return "DONE"
