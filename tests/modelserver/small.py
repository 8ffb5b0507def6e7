"""A small world with its scenarios, for tests: real tools over a dict, a schedule of troubles, and a
plain agent over the chat wire."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from forge_chaos.modelserver.errors import ProviderError
from forge_chaos.modelserver.server import ScriptedModel
from forge_chaos.nouns import Role, Scenario, Task, ToolSpec, Verify
from forge_chaos.reference import use
from forge_chaos.solution import csv_rows, json_list, json_with, number

Schedule = Callable[[str, Mapping[str, Any], int], str | None]
KINDS = (
    "timeout",
    "lost",
    "late",
    "missing",
    "refused",
    "busy",
    "garbage",
    "cut",
    "empty",
    "noop",
    "blind",
)


def spec(name: str, roles: Iterable[Role], properties: str, **more: Any) -> ToolSpec:
    names = properties.split()
    schema = {"type": "object", "properties": {n: {"type": "string"} for n in names}, "required": names}
    return ToolSpec(name, f"{name} of the small world.", schema, frozenset(roles), **more)


def _same(args: Mapping[str, Any], text: str) -> bool:
    return text.strip() == str(args["text"]).strip()


def _charged(args: Mapping[str, Any], text: str) -> bool:
    try:
        found = json.loads(text)
    except ValueError:
        return False
    return isinstance(found, list) and any(
        isinstance(entry, dict) and entry.get("order") == args["order"] for entry in found
    )


SPECS: Mapping[str, ToolSpec] = {
    one.name: one
    for one in (
        spec("read_file", ["read"], "path", target="path"),
        spec("list_files", ["list"], "path", target="path"),
        spec(
            "write_file",
            ["write"],
            "path text",
            target="path",
            returns=r"wrote \d+ characters to \S+",
            verify=Verify("read_file", {"path": "path"}, _same),
            settle=5.0,
        ),
        spec(
            "charge",
            ["effect"],
            "order amount",
            target="order",
            returns=r"charged \S+ for \S+",
            verify=Verify("list_charges", {"order": "order"}, _charged),
            settle=60.0,
        ),
        spec("list_charges", ["read"], "order", target="order"),
        spec("mail", ["effect"], "to", target="to", returns=r"sent to \S+", settle=5.0),
        spec("job", ["read"], "id", target="id", poll=True),
        spec("remove", ["write", "effect"], "path", target="path", returns=r"removed \S+"),
    )
}


async def _sum(task: Any, tools: Any) -> str:
    rows = await tools.read_file(path="orders.csv", expect=csv_rows("id", "amount"))
    await tools.write_file(path="out/total.txt", text=str(sum(int(row["amount"]) for row in rows)))
    return "The total is written.\nDONE"


async def _charge(task: Any, tools: Any) -> str:
    order = await tools.read_file(path="order.json", expect=json_with("id", "amount"))
    await tools.charge(order=order["id"], amount=order["amount"])
    return "DONE"


async def _batch(task: Any, tools: Any) -> str:
    numbers = await tools.together(
        *(tools.read_file(path=f"{name}.txt", expect=number(), allow={"missing": 0}) for name in "abc")
    )
    await tools.write_file(path="out/total.txt", text=str(sum(numbers)))
    return "DONE"


async def _poll(task: Any, tools: Any) -> str:
    for _ in range(10):
        state = await tools.job(id="j1", expect=json_with("status"))
        if state["status"] == "done":
            return "DONE"
        await tools.wait(5)
    return "FAILED: the job does not end"


async def _remove(task: Any, tools: Any) -> str:
    await tools.remove(path="order.json")
    return "DONE"


async def _detour(task: Any, tools: Any) -> None:
    await tools.write_file(path="order.json", text="")


async def _mail(task: Any, tools: Any) -> str:
    async def sent() -> bool:
        charges = await tools.list_charges(order="O7", expect=json_list())
        return any("mail" in entry for entry in charges)

    await tools.mail(to="a@b.example", check=sent)
    await tools.mail(to="c@d.example")
    return "DONE"


FILES = {
    "orders.csv": b"id,amount\nA,10\nB,32\n",
    "order.json": b'{"id": "O7", "amount": 30}',
    "a.txt": b"1",
    "b.txt": b"2",
    "c.txt": b"3",
}


def scenario(name: str, solve: Any, **more: Any) -> Scenario:
    prompt = f"Task {name}:\n do what  it says. End with DONE or FAILED."
    return Scenario(name, prompt, files=FILES, solve=solve, **more)


SUM, CHARGE, BATCH, POLL = (
    scenario("sum", _sum),
    scenario("charge", _charge),
    scenario("batch", _batch),
    scenario("poll", _poll),
)
REMOVE, MAIL = scenario("remove", _remove, detour=_detour), scenario("mail", _mail)
SCENARIOS = (SUM, CHARGE, BATCH, POLL, REMOVE, MAIL)
PERSONAS = ("expert", "naive", "stubborn", "gullible", "impatient", "circumvent")


class World:
    """Tools in the shape that a native agent is handed, and what really happened."""

    def __init__(self, schedule: Schedule = lambda name, args, nth: None) -> None:
        self.specs = [one.openai() for one in SPECS.values()]
        self.files = {name: data.decode() for name, data in FILES.items()}
        self.charges: list[dict[str, Any]] = []
        self.polls = 0
        self.calls: list[tuple[str, Mapping[str, Any]]] = []
        self.failed: list[bool] = []
        self._schedule, self._late = schedule, list[tuple[float, str, Mapping[str, Any]]]()
        self._nth: Counter[str] = Counter()
        self.time = 0.0

    def pass_time(self, seconds: float) -> None:
        self.time += seconds
        due = [late for late in self._late if late[0] <= self.time]
        self._late = [late for late in self._late if late[0] > self.time]
        for _, name, args in due:
            self._do(name, args)

    async def call(self, name: str, args: Mapping[str, Any], id: str | None = None) -> str:
        self.calls.append((name, dict(args)))
        self._nth[name] += 1
        self.failed.append(True)
        at = len(self.failed) - 1
        text = self._meet(self._schedule(name, args, self._nth[name]), name, args)
        self.failed[at] = False
        return text

    def _meet(self, kind: str | None, name: str, args: Mapping[str, Any]) -> str:
        if kind == "timeout":
            raise TimeoutError("timed out after 30 seconds")
        if kind == "lost":
            self._do(name, args)
            raise ConnectionResetError(104, "Connection reset by peer")
        if kind == "late":
            self._late.append((self.time + 4.0, name, args))
            raise TimeoutError("timed out after 30 seconds")
        if kind == "missing":
            raise FileNotFoundError(2, "No such file or directory", args.get("path"))
        if kind == "refused":
            raise PermissionError("not allowed by policy")
        if kind == "busy":
            raise RuntimeError("503 Service Unavailable, retry after 7 s")
        if kind == "blind":
            raise RuntimeError("")
        if kind == "noop":
            if name in ("write_file", "charge", "mail", "remove"):
                return str(_GOOD[name].format(**args, n=len(str(args.get("text")))))
            return self._do(name, args)
        text = self._do(name, args)
        return {"garbage": '{"ok": NaN, "x": [', "cut": text[: len(text) // 2], "empty": ""}.get(
            kind or "", text
        )

    def _do(self, name: str, args: Mapping[str, Any]) -> str:
        if name == "read_file":
            if args["path"] not in self.files:
                raise FileNotFoundError(2, "No such file or directory", args["path"])
            return self.files[args["path"]]
        if name == "list_files":
            folder = "" if args["path"] == "." else args["path"].rstrip("/") + "/"
            below = [path[len(folder) :] for path in self.files if path.startswith(folder)]
            if folder and not below:
                raise FileNotFoundError(2, "No such file or directory", args["path"])
            return json.dumps(sorted({path.partition("/")[0] for path in below}))
        if name == "write_file":
            self.files[args["path"]] = args["text"]
        elif name == "charge":
            self.charges.append({"order": args["order"], "amount": args["amount"]})
        elif name == "mail":
            self.charges.append({"order": "O7", "mail": args["to"]})
        elif name == "remove":
            self.files.pop(args["path"], None)
        elif name == "list_charges":
            return json.dumps([entry for entry in self.charges if entry["order"] == args["order"]])
        elif name == "job":
            self.polls += 1
            return json.dumps({"id": args["id"], "status": "done" if self.polls > 2 else "running"})
        return str(_GOOD[name].format(**args, n=len(str(args.get("text")))))

    def damaged(self) -> bool:
        seen = [json.dumps(entry) for entry in self.charges]
        return len(seen) != len(set(seen))

    def reached(self, task: Scenario) -> bool:
        wanted: Mapping[str, bool] = {
            "sum": self.files.get("out/total.txt") == "42",
            "batch": self.files.get("out/total.txt") == "6",
            "charge": self.charges == [{"order": "O7", "amount": 30}],
            "poll": self.polls > 2,
            "remove": "order.json" not in self.files,
            "mail": [entry.get("mail") for entry in self.charges] == ["a@b.example", "c@d.example"],
        }
        return wanted[task.name]


_GOOD = {
    "write_file": "wrote {n} characters to {path}",
    "charge": "charged {amount} for {order}",
    "mail": "sent to {to}",
    "remove": "removed {path}",
}


def hits(tool: str, kind: str, first: int = 1, last: int | None = None) -> Schedule:
    """One rule: calls first..last of a tool (None: for ever) meet one kind of trouble."""

    def schedule(name: str, args: Mapping[str, Any], nth: int) -> str | None:
        return kind if name == tool and nth >= first and (last is None or nth <= last) else None

    return schedule


class Seat:
    """A model seat over a scripted model: JSON both ways, refusals raised, time passed on to the world."""

    def __init__(self, model: ScriptedModel, world: World) -> None:
        self._model, self._world = model, world
        self.waits: list[float] = []

    async def complete(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]] = ()
    ) -> dict[str, Any]:
        body: dict[str, Any] = {"model": "scripted", "messages": list(messages)}
        if tools:
            body["tools"] = list(tools)
        response = self._model("/v1/chat/completions", json.dumps(body).encode())
        if response.wait:
            self.waits.append(response.wait)
            self._world.pass_time(response.wait)
        if response.status != 200:
            raise ProviderError(response.status, response.body)
        message: dict[str, Any] = json.loads(response.body)["choices"][0]["message"]
        return message


async def plain_agent(task: Task, world: World, seat: Seat) -> str:
    """A loop without guards: what the model asks for is done, one call after the other."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": task.prompt}]
    while True:
        try:
            reply = await seat.complete(messages, world.specs)
        except ProviderError as refusal:
            return f"refused {refusal.error['type']}"
        messages.append(reply)
        if not reply.get("tool_calls"):
            return str(reply["content"])
        for call in reply["tool_calls"]:
            function = call["function"]
            text, _ = await use(world, function["name"], json.loads(function["arguments"]), call["id"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
