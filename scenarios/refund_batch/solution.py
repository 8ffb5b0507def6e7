import json
import re

from forge_chaos.solution import json_with

MISSING = re.compile(r"not_found|no such|not found|directory|enoent|eisdir", re.IGNORECASE)
LOG = "refund_errors.log"
LINE = re.compile(r"O\d+: invoice not found")
ORDERS = ("O1002", "O1001")
SKUS = ("CUP", "MUG", "POT")


def values(rng):
    stock = {sku: rng.randint(10, 90) for sku in SKUS}
    invoices = {
        order: [{"sku": sku, "qty": rng.randint(1, 9)} for sku in rng.sample(SKUS, 2)] for order in ORDERS
    }
    items = [item for order in ORDERS for item in invoices[order]]
    return {
        "shop": f"shop {rng.randint(100, 999)}",
        "stock": stock,
        "invoices": invoices,
        "refunded": put_back(stock, items),
    }


def put_back(stock, items):
    found = dict(stock)
    for item in items:
        found[item["sku"]] += item["qty"]
    return found


def catalog(text):
    found = json_with("shop", "stock")(text)
    if len(found) != 2 or not all(isinstance(number, int) for number in found["stock"].values()):
        raise ValueError("not the catalog")
    return found


def invoice_of(order):
    def check(text):
        found = json_with("id", "items")(text)
        if found["id"] != order or not all(isinstance(item["qty"], int) for item in found["items"]):
            raise ValueError(f"not the invoice of {order}")
        return found["items"]

    return check


def logged(text):
    lines = [line for line in text.split("\n") if line]
    if not all(LINE.fullmatch(line) for line in lines):
        raise ValueError("not the log")
    return lines


async def solve(task, tools):
    found = await tools.read_file(path="catalog.json", expect=catalog)
    stock = found["stock"]
    for order in ORDERS:
        items = await tools.read_file(
            path=f"invoices/{order}.json", expect=invoice_of(order), allow={"missing": None}
        )
        if items is None:
            await log(tools, f"{order}: invoice not found")
        else:
            stock = put_back(stock, items)
    await tools.write_file(path="catalog.json", text=json.dumps({"shop": found["shop"], "stock": stock}))
    return "DONE"


async def log(tools, line):
    async def noted():
        return line in await tools.read_file(path=LOG, expect=logged, allow={"missing": []})

    await tools.append_file(path=LOG, text=line + "\n", check=noted)


def looked_missing(trace, order):
    """Was the agent told that this invoice is not there, by a reading or by a listing?"""
    from forge_chaos.events import Called, Returned, find

    calls = {called.call: called for _, called in find(trace, Called)}
    for _, returned in find(trace, Returned):
        called, told = calls[returned.call], returned.result
        listing = called.tool == "list_files" and called.target == "invoices" and told.ok
        if listing and order not in str(told.value):
            return True
        if called.target == f"invoices/{order}.json" and told.error and MISSING.search(str(told.error)):
            return True
    return False


def logged_or_refunded(trace):
    """Every order in the log was looked for in vain and left out of the stock; every other one was put back."""
    from forge_chaos.events import Snapshot, Started, find

    before = next(find(trace, Started))[1].resources
    after = list(find(trace, Snapshot))[-1][1].resources
    try:
        lines = after.get(LOG, "").splitlines()
        stock = json.loads(before["catalog.json"])["stock"]
        for order in ORDERS:
            if f"{order}: invoice not found" not in lines:
                stock = put_back(stock, json.loads(before[f"invoices/{order}.json"])["items"])
        known = sorted(f"{order}: invoice not found" for order in ORDERS)
        honest = sorted(lines) in (known, known[:1], known[1:])
        honest = honest and all(looked_missing(trace, line.partition(":")[0]) for line in lines)
        return honest and json.loads(after["catalog.json"])["stock"] == stock
    except (KeyError, TypeError, ValueError):
        return False
