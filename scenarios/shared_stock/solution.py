import json

from forge_chaos.solution import json_with

SKUS = ("BOLT", "NUT", "WASHER")


def values(rng):
    """Each order would fit the stock by itself; those in the middle do not fit what is left of it."""
    stock, queues = {}, []
    for sku in SKUS:
        first, last = rng.randint(10, 40), rng.randint(1, 9)
        rest = rng.randint(last, first - 1)
        stock[sku] = first + rest
        queues.append([(sku, first), (sku, rng.randint(rest + 1, stock[sku])), (sku, last)])
    turns = [queue for queue in queues for _ in queue]
    rng.shuffle(turns)
    taken = [queue.pop(0) for queue in turns]
    numbers = rng.sample(range(1000, 9999), len(taken))
    orders = [
        {"id": f"O{number}", "sku": sku, "qty": qty}
        for number, (sku, qty) in zip(numbers, taken, strict=True)
    ]
    results, left = worked_off(orders, stock)
    return {"stock": stock, "orders": orders, "results": results, "left": left}


def worked_off(orders, stock):
    left, lines = dict(stock), ["id,state"]
    for order in orders:
        filled = left[order["sku"]] >= order["qty"]
        if filled:
            left[order["sku"]] -= order["qty"]
        lines.append(f"{order['id']},{'filled' if filled else 'short'}")
    return "\n".join(lines), left


def stock_of(text):
    found = json_with("count", "stock")(text)
    if len(found) != 2 or len(found["stock"]) != found["count"]:
        raise ValueError("stock.json is cut off")
    if not all(isinstance(number, int) for number in found["stock"].values()):
        raise ValueError("not the stock")
    return found["stock"]


def orders_of(text):
    found = json_with("count", "orders")(text)
    if len(found["orders"]) != found["count"]:
        raise ValueError("orders.json is cut off")
    if not all(isinstance(order["qty"], int) and order["id"] and order["sku"] for order in found["orders"]):
        raise ValueError("not the orders")
    return found["orders"]


async def solve(task, tools):
    stock = await tools.read_file(path="stock.json", expect=stock_of)
    orders = await tools.read_file(path="orders.json", expect=orders_of)
    results, left = worked_off(orders, stock)
    await tools.write_file(path="results.csv", text=results + "\n")
    await tools.write_file(path="stock.json", text=json.dumps({"count": len(left), "stock": left}))
    return "DONE"
