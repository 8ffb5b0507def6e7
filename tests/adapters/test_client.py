from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
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


def refused(
    status: int, kind: str = "server_error", code: str | None = None, says: str = "no"
) -> tuple[int, bytes]:
    error = {"message": says, "type": kind, "param": None, "code": code}
    return status, json.dumps({"error": error}).encode()


def asked(kind: str, *answers: Any) -> tuple[Any, list[str], float]:
    """What a client makes of a provider that answers so, the last one for ever; the paths that it asked, and the
    trial time that it took."""
    wire, loop, paths = Wire([]), VirtualLoop(), list[str]()

    async def door(path: str, body: bytes) -> tuple[int, bytes]:
        paths.append(path)
        answer = answers[min(len(paths), len(answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return await wire.door(path, body) if answer is None else answer

    async def main() -> Any:
        model = SimpleNamespace(door=door)
        async with blocking() as threads:
            try:
                if kind == "async":
                    return await _client.asynchronous(model).chat.completions.create(
                        model="m", messages=ASKED
                    )
                client = _client.synchronous(model, threads)
                return await threads.run(lambda: client.chat.completions.create(model="m", messages=ASKED))
            except Exception as error:
                return error

    try:
        return loop.run_until_complete(main()), paths, loop.time()
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


@pytest.mark.parametrize("kind", ["async", "sync"])
@pytest.mark.parametrize(
    ("answers", "waits", "tries"),
    [
        ([refused(500), None], 0.5, 2),
        ([refused(529), refused(429), None], 1.5, 3),
        ([refused(429, says="Please try again in 20 seconds."), None], 20.0, 2),
        ([ConnectionError("reset"), None], 0.5, 2),
    ],
    ids=["once", "twice", "as the provider says", "a lost connection"],
)
def test_a_client_tries_again_in_trial_time_and_waits_equally_each_time(
    kind: str, answers: list[Any], waits: float, tries: int
) -> None:
    reply, paths, took = asked(kind, *answers)
    assert reply.choices[0].message.content == "DONE"
    assert [path.partition("?")[2] for path in paths] == ["", *(f"retry={n}" for n in range(1, tries))]
    assert took == pytest.approx(waits)


@pytest.mark.parametrize("kind", ["async", "sync"])
def test_a_client_gives_up_after_two_more_tries(kind: str) -> None:
    error, paths, took = asked(kind, refused(500))
    assert isinstance(error, _client.refusal())
    assert len(paths) == 3
    assert took == pytest.approx(1.5)
    error, paths, _ = asked(kind, refused(401))
    assert isinstance(error, _client.refusal())
    assert len(paths) == 1


WRONG = refused(400, "invalid_request_error", says="'tool_call_id' had no response")


@pytest.mark.parametrize(
    ("answer", "honest"),
    [
        (WRONG, False),
        ((422, WRONG[1]), False),
        (refused(400, "invalid_request_error", "context_length_exceeded"), True),
        (refused(400, "budget", "budget_spent"), True),
        ((400, b"a page of some proxy"), True),
        (refused(403, "invalid_request_error"), True),
        (refused(404, "invalid_request_error"), True),
    ],
)
def test_a_request_that_nobody_would_take_is_no_refusal_but_a_mistake(
    answer: tuple[int, bytes], honest: bool
) -> None:
    error = asked("async", answer)[0]
    assert isinstance(error, _client.refusal()) is honest
    assert isinstance(error, (KeyError, _client.refusal())) is honest


@pytest.mark.parametrize("join", ["cause", "context"])
def test_what_a_framework_puts_in_its_place_is_judged_by_what_it_came_of(join: str) -> None:
    class Failed(Exception):
        pass

    def put_round(error: Exception) -> Exception:
        try:
            try:
                raise error
            except Exception:
                raise Failed("the model failed") from (error if join == "cause" else None)
        except Failed as failed:
            failed.__suppress_context__ = join == "cause"
            return failed

    assert isinstance(put_round(asked("async", refused(500))[0]), _client.refusal(Failed))
    assert not isinstance(put_round(asked("async", WRONG)[0]), _client.refusal(Failed))
    assert not isinstance(put_round(asked("async", refused(500))[0]), _client.refusal())
    assert isinstance(Failed(), _client.refusal(Failed))


def test_outside_of_a_trial_the_official_client_draws_its_waits_as_ever() -> None:
    from openai import _base_client

    module: Any = _base_client
    _client.http_client(Wire([]))
    draw: Callable[[], float] = module.random
    assert len({draw() for _ in range(5)}) == 5
    _client.http_client(Wire([]))
    assert module.random is draw


def test_what_a_first_request_loads_can_be_loaded_before() -> None:
    """In a process of its own: here it is loaded already."""
    code = (
        "import sys; from forge_chaos.adapters import _client\n"
        "assert 'openai' not in sys.modules\n"
        "_client.ready()\n"
        "before = set(sys.modules)\n"
        "from openai import OpenAI\n"
        "client = OpenAI(api_key='k')\n"
        "client.chat.completions, client.responses\n"
        "print(sorted(name for name in set(sys.modules) - before if name.startswith('openai.resources')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("[]\n", "")
