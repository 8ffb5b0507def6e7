"""`forge-chaos proxy` and `serve --mcp` as processes of their own, with clients of the official SDKs."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from forge_chaos import tracefile
from forge_chaos.errors import Misuse
from forge_chaos.events import Called, Injected, find

SHOP = [sys.executable, str(Path(__file__).parents[1] / "servers" / "shop.py")]
US = [sys.executable, "-m", "forge_chaos"]
LIMIT = 120  # seconds


def over_stdio(words: list[str], talk: Any, errors: Path) -> Any:
    """What `talk(client)` gives back, the server started by these words; its standard error into a file."""

    async def main() -> Any:
        with errors.open("w") as log:
            parameters = StdioServerParameters(command=words[0], args=words[1:])
            async with Client(stdio_client(parameters, errlog=log)) as client:
                return await talk(client)

    return asyncio.run(asyncio.wait_for(main(), LIMIT))


@pytest.mark.slow
def test_a_client_of_the_official_sdk_meets_the_faults_of_the_proxy(tmp_path: Path) -> None:
    async def talk(client: Any) -> Any:
        return [await client.call_tool("look_up", {"item": "apples"}) for _ in range(2)]

    trace, errors = tmp_path / "trace.jsonl", tmp_path / "errors.txt"
    plan = "unavailable@1:look_up,timeout@9:look_up,malformed_output.cut_json@2:look_up,timeout:order"
    words = [*US, "proxy", "--plan", plan, "--trace", str(trace), "--", *SHOP]
    first, second = over_stdio(words, talk, errors)
    assert first.is_error
    assert "503" in first.content[0].text
    assert (second.is_error, second.content[0].text) == (False, "apples: 3")
    told = tracefile.loads(trace.read_text())
    assert [body.tool for _, body in find(told, Called)] == ["look_up", "look_up"]
    assert len(list(find(told, Injected))) == 1
    assert errors.read_text().splitlines()[-4:] == [
        "fired: unavailable:look_up",
        "never fired: timeout@9:look_up (it counted 2 calls, and was due on none)",
        "never fired: malformed_output.cut_json@2:look_up "
        "(it met 1 call, and there was nothing in it that this fault can change)",
        "never fired: timeout:order (no call matched it)",
    ]


@pytest.mark.slow
def test_an_agent_over_stdio_is_judged_when_it_leaves(tmp_path: Path) -> None:
    """It reads and writes as the task says, over a fault, so its end is good."""

    async def talk(client: Any) -> Any:
        first = await client.call_tool("read_file", {"path": "orders.csv"})
        again = await client.call_tool("read_file", {"path": "orders.csv"})
        rows = [line.split(",") for line in again.content[0].text.split()[1:]]
        total = sum(int(amount) for name, amount in rows if name != "rows")
        await client.call_tool("write_file", {"path": "total.txt", "text": str(total)})
        return first.is_error

    errors = tmp_path / "errors.txt"
    words = [*US, "serve", "--scenario", "sum_orders", "--mcp", "stdio", "--plan", "timeout@1:read_file"]
    assert over_stdio(words, talk, errors)
    assert "recovered, acceptable" in errors.read_text()


@contextmanager
def served(*words: str) -> Iterator[tuple[dict[str, str], subprocess.Popen[str]]]:
    """A server over HTTP: the addresses that it tells."""
    running = subprocess.Popen(
        [*US, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL
    )
    stop = threading.Timer(LIMIT, running.kill)
    stop.start()
    try:
        assert running.stdout is not None
        found: dict[str, str] = {}
        while "MCP" not in found:
            line = running.stdout.readline()
            assert line, running.stderr and running.stderr.read()
            found |= dict(re.findall(r"(\w+)=(http\S+)", line))
        yield found, running
    finally:
        stop.cancel()
        running.kill()
        running.wait()


@pytest.mark.slow
def test_tools_and_model_over_http_make_one_trial_and_ctrl_c_judges_it() -> None:
    """The scripted model plays an agent that somebody else wrote: openai for the model, MCP for the tools."""
    from openai import AsyncOpenAI

    from forge_chaos import catalog

    async def agent(urls: dict[str, str]) -> str:
        model = AsyncOpenAI(base_url=urls["OPENAI_BASE_URL"], api_key="none", max_retries=0)
        async with Client(urls["MCP"]) as tools:
            listed = await tools.list_tools()
            offered: Any = [
                {"type": "function", "function": {"name": t.name, "parameters": t.input_schema}}
                for t in listed.tools
            ]
            messages: list[Any] = [{"role": "user", "content": catalog.load("sum_orders", 1).prompt}]
            for _ in range(20):
                reply = await model.chat.completions.create(model="m", messages=messages, tools=offered)
                message = reply.choices[0].message
                messages.append(message.model_dump(exclude_none=True))
                if not message.tool_calls:
                    return str(message.content)
                for call in message.tool_calls:
                    assert call.type == "function"
                    done = await tools.call_tool(call.function.name, json.loads(call.function.arguments))
                    text = "".join(getattr(part, "text", "") for part in done.content)
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
        raise AssertionError("no answer")

    words = ("serve", "--scenario", "sum_orders", "--mcp", "http", "--plan", "timeout@1:read_file")
    with served(*words) as (urls, running):
        assert asyncio.run(asyncio.wait_for(agent(urls), LIMIT)) == "DONE"
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=LIMIT)
    assert "recovered, acceptable" in told, told
    assert running.returncode == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["proxy", "--plan", "timeout", "--", "./nope"], "there is no command './nope'"),
        (["proxy", "--plan", "timeot", "--", "python3"], "Did you mean 'timeout'"),
        (
            ["proxy", "--plan", "truncated_context.newest", "--", "python3"],
            "a proxy has the calls of tools alone",
        ),
        (["serve", "--scenario", "sum_orders", "--mcp", "htp"], "no door 'htp'"),
        (["serve", "--scenario", "sum_orders", "--plan", "timeout"], "--plan needs --mcp"),
        (["serve", "--scenario", "sum_orders", "--mcp", "http", "--window", "9"], "go without --mcp"),
    ],
)
def test_misuse_is_told_in_one_sentence(words: list[str], message: str) -> None:
    from forge_chaos.cli.app import invoke as run

    with pytest.raises(Misuse, match=re.escape(message)):
        run(words)
