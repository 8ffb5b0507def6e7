from forge_chaos.solution import csv_rows


def values(rng):
    orders = [{"id": f"A{rng.randint(100, 999)}", "amount": rng.randint(10, 99)} for _ in range(4)]
    return {"orders": orders, "total": sum(order["amount"] for order in orders)}


def amounts(text):
    *rows, last = csv_rows("id", "amount")(text)
    if last["id"] != "rows" or int(last["amount"]) != len(rows):
        raise ValueError("orders.csv is cut off")
    return [int(row["amount"]) for row in rows]


async def solve(task, tools):
    found = await tools.read_file(path="orders.csv", expect=amounts)
    return f"total: {sum(found)}\nDONE"
