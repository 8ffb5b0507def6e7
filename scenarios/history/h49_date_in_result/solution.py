from forge_chaos.solution import json_with


def values(rng):
    return {"id": f"O{rng.randint(1000, 9999)}", "qty": rng.randint(2, 9), "price": rng.randint(100, 999)}


def order_of(text):
    found = json_with("id", "qty", "price")(text)
    if not all(isinstance(found[name], int) for name in ("qty", "price")):
        raise ValueError("not an order")
    return found


async def solve(task, tools):
    order = await tools.read_file(path="order.json", expect=order_of)
    await tools.write_file(path="sum.txt", text=str(order["qty"] * order["price"]))
    return "DONE"
