"""A model that looks for orders.csv in ever more places and never gives up by itself: only a loop's step
limit ends it, honestly. All else it does with care. For the scenario `sum_orders`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from forge_chaos.modelgate import ModelSeat
from forge_chaos.modelserver.trouble import retry_after

Asked = tuple[str, dict[str, Any]]
Done = tuple[str, dict[str, Any], str]  # a call that was made, and what was told of it
ORDERS, TOTAL = "orders.csv", "total.txt"
TRIES = 3
SETTLE = 60.0  # seconds until a write that cannot be seen is believed to be lost


def searcher(model: Any, width: int = 1) -> ModelSeat:
    """It sits behind the gate of `model`. After three readings in vain it asks for `width` places a turn."""

    async def endpoint(request: Mapping[str, Any]) -> dict[str, Any]:
        done = _done(request["messages"])
        move: str | list[Asked] = "FAILED: orders.csv is nowhere to be found"
        if request.get("tools"):
            move = _move(done, width)
        if isinstance(move, str):
            return _reply({"content": move})
        rewrite = bool(done) and move[0][0] == "write_file" and done[-1][0] == "read_file"
        await asyncio.sleep(max(retry_after(done[-1][2]) if done else 0.0, SETTLE if rewrite else 0.0))
        return _reply(
            {"content": None, "tool_calls": [_call(len(done), n, asked) for n, asked in enumerate(move)]}
        )

    return ModelSeat(model.gate, None, endpoint, "searcher")


def _done(messages: Sequence[Mapping[str, Any]]) -> list[Done]:
    told = {m["tool_call_id"]: str(m["content"]) for m in messages if m["role"] == "tool"}
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    return [
        (call["function"]["name"], json.loads(call["function"]["arguments"]), told[call["id"]])
        for call in calls
        if call["id"] in told
    ]


def _move(done: Sequence[Done], width: int) -> str | list[Asked]:
    total = next((total for _, _, text in done if (total := _total(text)) is not None), None)
    if total is None:
        places = [args["path"] for _, args, _ in done]
        if places.count(ORDERS) < TRIES:
            return [("read_file", {"path": ORDERS})]
        return [("read_file", {"path": f"{n}/{ORDERS}"}) for n in range(len(done), len(done) + width)]
    wrote = [n for n, (name, _, _) in enumerate(done) if name == "write_file"]
    looked = [text.strip() for _, args, text in done[wrote[-1] + 1 :]] if wrote else []
    if str(total) in looked:
        return "DONE"
    if wrote and len(looked) < TRIES:
        return [("read_file", {"path": TOTAL})]
    if len(wrote) < TRIES:
        return [("write_file", {"path": TOTAL, "text": str(total)})]
    return "FAILED: total.txt cannot be written"


def _total(text: str) -> int | None:
    """The sum of the amounts, None for what is not the whole file."""
    lines = text.strip().splitlines()
    if not lines or lines[0] != "id,amount" or lines[-1] != f"rows,{len(lines) - 2}":
        return None
    return sum(int(line.split(",")[1]) for line in lines[1:-1])


def _call(turn: int, index: int, asked: Asked) -> dict[str, Any]:
    name, arguments = asked
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": f"call_{turn}_{index}", "type": "function", "function": function}


def _reply(message: dict[str, Any]) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}]}
