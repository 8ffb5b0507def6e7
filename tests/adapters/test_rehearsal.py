"""A rehearsal plays a stock loop to its end, once, in any place, and never fails."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from forge_chaos.adapters._rehearsal import rehearsed
from forge_chaos.nouns import Answer


def looping(said: list[Any]) -> Any:
    async def agent(task: Any, specs: Any, tools: Any, gate: Any, model: Any) -> Answer:
        messages: list[dict[str, Any]] = [{"role": "user", "content": task.prompt}]
        offered = [spec.openai() for spec in specs.values()]
        while True:
            body = {"model": "m", "messages": messages, "tools": offered}
            status, answer = await model.door("/v1/chat/completions", json.dumps(body).encode())
            assert status == 200
            message = json.loads(answer)["choices"][0]["message"]
            messages.append(message)
            if not message.get("tool_calls"):
                said.append(message["content"])
                return Answer(message["content"])
            for call in message["tool_calls"]:
                name, args = call["function"]["name"], json.loads(call["function"]["arguments"])
                result = await gate(name, args, tools[name], id=call["id"])
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result.value})

    return agent


def test_it_plays_the_loop_with_a_tool_to_its_end_and_only_once() -> None:
    said: list[Any] = []
    agent = looping(said)
    rehearsed(agent)
    rehearsed(agent)
    assert said == ["DONE"]


def test_it_can_be_asked_for_where_a_loop_runs_already() -> None:
    said: list[Any] = []

    async def main() -> None:
        rehearsed(looping(said))

    asyncio.run(main())
    assert said == ["DONE"]


def test_a_loop_that_fails_is_left_to_the_trials() -> None:
    tried: list[str] = []

    async def agent(*given: Any) -> Answer:
        tried.append("once")
        raise SystemExit("no")

    rehearsed(agent)
    assert tried == ["once"]
