from __future__ import annotations

from typing import Any

import pytest

from forge_chaos.adapters import _client
from forge_chaos.adapters._threads import blocking
from forge_chaos.clock import VirtualLoop
from tests.conformance.frameworks.wire import PROMPT, Wire

ASKED: Any = [{"role": "user", "content": PROMPT}]
TOOLS: Any = [{"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}]


@pytest.mark.parametrize("kind", ["async", "sync"])
def test_an_official_client_asks_the_seat_and_no_socket(kind: str) -> None:
    wire = Wire([[("read_file", {"path": "a.csv"})]])
    loop = VirtualLoop()

    async def main() -> Any:
        async with blocking() as door:
            if kind == "async":
                client = _client.asynchronous(wire)
                return await client.chat.completions.create(model="m", messages=ASKED, tools=TOOLS)
            client = _client.synchronous(wire, door)
            return await door.run(
                lambda: client.chat.completions.create(model="m", messages=ASKED, tools=TOOLS)
            )

    try:
        reply = loop.run_until_complete(main())
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
    (call,) = reply.choices[0].message.tool_calls
    assert (call.function.name, call.function.arguments) == ("read_file", '{"path": "a.csv"}')
    assert len(wire.bodies) == 1


def test_a_framework_with_a_form_of_its_own_is_read_and_answered_in_the_other_form() -> None:
    """What it sends is carried over for the model, and what the model says is carried back."""
    wire = Wire([[("read_file", {"path": "a.csv"})]])
    loop = VirtualLoop()

    async def main() -> Any:
        async with blocking() as door:
            client = _client.synchronous(
                wire,
                door,
                lambda body: {**body, "tools": TOOLS},
                lambda body, done: {**done, "model": body["model"]},
            )
            return await door.run(lambda: client.chat.completions.create(model="theirs", messages=ASKED))

    try:
        reply = loop.run_until_complete(main())
    finally:
        loop.close()
    assert wire.bodies[0]["tools"] == TOOLS
    assert reply.model == "theirs"
    assert reply.choices[0].message.tool_calls[0].function.name == "read_file"
