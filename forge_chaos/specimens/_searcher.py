"""A model that looks for orders.csv in ever more places and never gives up by itself: only a loop's step
limit ends it, honestly. For the scenario `sum_orders`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from forge_chaos.modelgate import ModelSeat

Asked = tuple[str, dict[str, Any]]


def searcher(model: Any, width: int = 1) -> ModelSeat:
    """It sits behind the gate of `model`. After the first reading it asks for `width` places a turn."""

    async def endpoint(request: Mapping[str, Any]) -> dict[str, Any]:
        messages = request["messages"]
        move: str | list[Asked] = "FAILED: orders.csv is nowhere to be found"
        if request.get("tools"):
            move = _move([m["content"] for m in messages if m["role"] == "tool"], width)
        if isinstance(move, str):
            return _reply({"content": move})
        return _reply(
            {"content": None, "tool_calls": [_call(len(messages), n, a) for n, a in enumerate(move)]}
        )

    return ModelSeat(model.gate, None, endpoint, "searcher")


def _move(told: Sequence[str], width: int) -> str | list[Asked]:
    if told and told[-1].startswith("wrote "):
        return "DONE"
    total = next((total for text in told if (total := _total(text)) is not None), None)
    if total is not None:
        return [("write_file", {"path": "total.txt", "text": str(total)})]
    tried = len(told)
    places = ["orders.csv"] if not told else [f"{n}/orders.csv" for n in range(tried, tried + width)]
    return [("read_file", {"path": place}) for place in places]


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
