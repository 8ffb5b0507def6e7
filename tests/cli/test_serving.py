"""`forge-chaos serve`: the scripted model behind a port, for whoever comes."""

from __future__ import annotations

import asyncio
import json
import re
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from forge_chaos import catalog
from forge_chaos.nouns import Call, Ok
from forge_chaos.worlds.files import files
from tests.cli.door import door, started
from tests.modelserver.clients import TALKS, asking, loop

PROMPT = catalog.load("three_reads", 1).prompt
LINE = re.compile(r"OPENAI_BASE_URL=(http://127\.0\.0\.1:\d+)/v1 ANTHROPIC_BASE_URL=\1\n")


@dataclass(frozen=True)
class Served:
    url: str
    told: str
    folder: Path


@contextmanager
def serving(folder: Path, *words: str) -> Iterator[Served]:
    """The program, until it is stopped by Ctrl-C; what it says first."""
    process = started(folder, "serve", *words, restore_signals=True, preexec_fn=_heard)
    try:
        assert process.stdout is not None
        assert select.select([process.stdout], [], [], 60)[0], "it says nothing"
        line = process.stdout.readline()
        found = LINE.fullmatch(line)
        assert found is not None, line or process.communicate(timeout=60)[1]
        told = ""
        while not told.endswith("and the reason.\n"):
            told += process.stdout.readline() or pytest.fail("it ended")
        yield Served(found[1], told, folder)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "forge-chaos: stopped.\n")
    finally:
        process.kill()
        process.communicate()


def _heard() -> None:
    """Ctrl-C is heard, whatever started the tests."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass
class Hands:
    """A client's own tools: here those of the scenario's world, with nothing of ours between."""

    world: Any
    only: tuple[str, ...] = ("list_files", "read_file", "write_file")

    @property
    def specs(self) -> list[dict[str, Any]]:
        return [self.world.specs[name].openai() for name in self.only]

    async def call(self, name: str, args: dict[str, Any], id: str | None = None) -> Any:
        result = await self.world.tools[name](Call(1, name, args))
        assert isinstance(result, Ok), result
        return result.value


async def talked(served: Served, kind: str, streamed: bool, path: str = "", **more: Any) -> tuple[str, Any]:
    """A whole conversation of an official client: the answer, and the world after it."""
    world = files(catalog.load("three_reads", 1), asyncio.sleep)
    hands = Hands(world, **more)
    talk = TALKS[kind](served.told.partition("\n\n")[2], hands.specs)
    maker: Any = {openai: openai.AsyncOpenAI, anthropic: anthropic.AsyncAnthropic}[talk.package]
    async with maker(base_url=served.url + path + talk.url, api_key="none", max_retries=0) as client:
        answer = await loop(talk, asking(client, streamed), hands, 20)
    try:
        return answer, world.resources().get("total.txt")
    finally:
        world.close()


@pytest.mark.slow
def test_clients_are_led_to_the_end_over_every_wire_one_after_the_other_and_at_once(tmp_path: Path) -> None:
    total = str(sum(int(text.split()[1]) for name, text in _texts().items() if name != "total.txt"))

    async def main(served: Served) -> None:
        for kind in TALKS:
            for streamed in (False, True):
                assert await talked(served, kind, streamed) == ("DONE", total), kind
        named = [talked(served, kind, n % 2 == 0, f"/t/{n}") for n, kind in enumerate([*TALKS] * 2)]
        assert await asyncio.gather(*named) == [("DONE", total)] * len(named)
        answer, written = await talked(served, "chat", False, only=("list_files", "write_file"))
        assert (answer, written) == ("FAILED: there is no tool read_file", None)

    with serving(tmp_path, "--scenario", "three_reads", "--files", "there") as served:
        assert served.told.startswith("Tools: list_files, read_file, write_file\n\n")
        assert PROMPT.strip() in served.told
        there = {p.name: p.read_text() for p in (tmp_path / "there").iterdir()}
        assert there == _texts()
        asyncio.run(main(served))


def _texts() -> dict[str, str]:
    return {name: data.decode() for name, data in catalog.load("three_reads", 1).files.items()}


@pytest.mark.slow
def test_seed_persona_and_window_are_kept(tmp_path: Path) -> None:
    words = (
        "--scenario",
        "three_reads",
        "--seed",
        "7",
        "--persona",
        "naive",
        "--window",
        "40",
        "--files",
        "x",
    )
    with serving(tmp_path, *words) as served:
        drawn = catalog.load("three_reads", 7).files["north.txt"]
        assert (
            (tmp_path / "x" / "north.txt").read_bytes()
            == drawn
            != catalog.load("three_reads", 1).files["north.txt"]
        )
        connection = HTTPConnection(served.url.removeprefix("http://"), timeout=30)
        for text, status in ((served.told, 400), ("hello", 200)):
            body = {"model": "m", "messages": [{"role": "user", "content": text}]}
            connection.request("POST", "/v1/chat/completions", json.dumps(body))
            response = connection.getresponse()
            assert (response.status, b"context_length" in response.read()) == (status, status == 400)
        connection.close()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--scenario", "three_read"), "Did you mean 'three_reads'?"),
        (("--scenario", "sum_orders", "--persona", "experts"), "Did you mean 'expert'?"),
        (("--scenario", "sum_orders", "--port", "99999999"), "--port"),
        (("--scenario", "sum_orders", "--files", "."), "is there and not empty"),
        ((), "--scenario"),
    ],
)
def test_a_mistake_is_told(words: tuple[str, ...], says: str, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    done = door(tmp_path, "serve", *words)
    assert done.code == 4
    assert says in done.err
    assert done.out == ""
