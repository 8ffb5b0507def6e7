"""A door behind a port of this machine: trial time stays virtual and is never torn."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable
from threading import active_count
from typing import Any

import openai
import pytest

from forge_chaos.clock import VirtualLoop
from forge_chaos.errors import Misuse
from forge_chaos.events import Trace
from forge_chaos.modelserver.loopback import loopback, port
from forge_chaos.modelserver.server import ScriptedModel
from tests.modelserver import small
from tests.modelserver.test_wires import trial

MESSAGES: Any = [{"role": "user", "content": small.SUM.prompt}]
TOOLS: Any = [one.openai() for one in small.SPECS.values()]


def on_a_virtual_loop(main: Callable[[VirtualLoop], Awaitable[Any]]) -> Any:
    loop = VirtualLoop()

    async def run() -> Any:
        return await main(loop)

    try:
        return loop.run_until_complete(run())
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


def model(seconds: float) -> Callable[[str, bytes], Any]:
    scripted = ScriptedModel(small.SUM, "expert", small.SPECS)

    async def door(path: str, body: bytes) -> tuple[int, bytes]:
        await asyncio.sleep(seconds)
        response = scripted(path, body)
        return response.status, response.body

    return door


def test_a_client_on_the_loop_waits_in_trial_time() -> None:
    async def main(loop: VirtualLoop) -> list[float]:
        times = []
        with loopback(model(4_000)) as url:
            async with openai.AsyncOpenAI(
                base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=None
            ) as client:
                for _ in range(3):
                    reply = await client.chat.completions.create(model="m", messages=MESSAGES, tools=TOOLS)
                    assert reply.choices[0].message.tool_calls
                    times.append(loop.time())
        return times

    assert on_a_virtual_loop(main) == [4_000.0, 8_000.0, 12_000.0]


def test_a_client_s_own_time_limit_is_in_trial_time_too() -> None:
    async def main(loop: VirtualLoop) -> float:
        with loopback(model(4_000)) as url:
            async with openai.AsyncOpenAI(
                base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=60
            ) as client:
                with pytest.raises(openai.APITimeoutError):
                    await client.chat.completions.create(model="m", messages=MESSAGES)
        return loop.time()

    assert on_a_virtual_loop(main) == 60.0


def test_a_client_in_a_thread_waits_in_trial_time() -> None:
    async def main(loop: VirtualLoop) -> float:
        with loopback(model(4_000)) as url:

            def work() -> str:
                with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
                    events = client.chat.completions.create(model="m", messages=MESSAGES, stream=True)
                    return "".join(event.choices[0].delta.content or "" for event in events)

            assert (await asyncio.to_thread(work)).startswith("FAILED")
        return loop.time()

    assert on_a_virtual_loop(main) == 4_000.0


def test_the_clock_does_not_leap_past_a_request_that_is_on_its_way() -> None:
    """Beside each request a sleep of the agent's: it ends after the answer, which takes no trial time."""

    async def main(loop: VirtualLoop) -> list[str]:
        order: list[str] = []

        async def sleeper(n: int) -> None:
            await asyncio.sleep(30)
            order.append(f"slept {n}")

        with loopback(model(0)) as url:
            async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
                for n in range(5):
                    beside = asyncio.create_task(sleeper(n))
                    await client.chat.completions.create(model="m", messages=MESSAGES)
                    order.append(f"answered {n}")
                    await beside
        return order

    assert on_a_virtual_loop(main) == [f"{what} {n}" for n in range(5) for what in ("answered", "slept")]


def test_a_thread_holds_the_clock_while_a_request_that_was_given_up_is_not_yet_gone() -> None:
    import time

    async def main(loop: VirtualLoop) -> list[str]:
        order: list[str] = []

        async def sleeper() -> None:
            await asyncio.sleep(500)
            order.append(f"slept until {loop.time():g}")

        with loopback(model(9_000)) as url:
            async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
                for _ in range(5):
                    with pytest.raises(TimeoutError):
                        async with asyncio.timeout(30):
                            await client.chat.completions.create(model="m", messages=MESSAGES)
                    beside = asyncio.create_task(sleeper())
                    await asyncio.to_thread(time.sleep, 0.02)
                    order.append(f"worked until {loop.time():g}")
                    beside.cancel()
        return order

    assert on_a_virtual_loop(main) == [f"worked until {30 * n}" for n in range(1, 6)]


def test_a_request_that_nothing_answers_is_known_to_hang() -> None:
    async def never(path: str, body: bytes) -> tuple[int, bytes]:
        await asyncio.get_running_loop().create_future()
        return 200, b""

    async def main(loop: VirtualLoop) -> str:
        hung = loop.create_future()
        loop.on_idle = lambda: None if hung.done() else hung.set_result(None)
        with loopback(never) as url:
            async with openai.AsyncOpenAI(
                base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=None
            ) as client:
                asking = asyncio.ensure_future(client.chat.completions.create(model="m", messages=MESSAGES))
                await asyncio.wait({asking, hung}, return_when=asyncio.FIRST_COMPLETED)
                assert not asking.done()
                asking.cancel()
                await asyncio.wait({asking})
        loop.on_idle = None
        return "hung"

    assert on_a_virtual_loop(main) == "hung"


def test_a_loop_of_real_time_can_have_one_too() -> None:
    async def main() -> str:
        with loopback(model(0)) as url:
            async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
                reply = await client.chat.completions.create(model="m", messages=MESSAGES)
        return str(reply.choices[0].message.content)

    assert asyncio.run(main()).startswith("FAILED")


def test_nothing_is_left_of_it() -> None:
    before = active_count()

    async def main() -> int:
        with loopback(model(0)) as url:
            return int(url.rpartition(":")[2])

    number = asyncio.run(main())
    assert active_count() == before
    with socket.socket() as found:
        assert found.connect_ex(("127.0.0.1", number)) != 0


def test_a_port_that_is_taken_is_told() -> None:
    async def answer(path: str, body: bytes, client: int) -> tuple[int, bytes]:
        return 200, b""

    with (
        port(answer) as number,
        pytest.raises(Misuse, match=f"port {number}.*0 takes a free one"),
        port(answer, number),
    ):
        pass


def test_without_its_packages_the_way_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(Misuse, match=r"forge-chaos\[serve\]"), port(None):
        pass


@pytest.mark.slow
def test_trials_by_a_port_are_equal_to_trials_without_one_in_20_of_20_runs() -> None:
    rule = "timeout.hangs@1:read_file(south.txt)"

    def times(trace: Trace) -> list[Any]:
        return [(event.at, type(event.body).__name__) for event in trace]

    wanted = times(trial("three_reads", rule, talk="chat").trace)
    assert max(at for at, _ in wanted) >= 30
    for _ in range(20):
        assert times(trial("three_reads", rule, talk="chat", way="port").trace) == wanted
