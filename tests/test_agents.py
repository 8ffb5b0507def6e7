"""From a SPEC to an agent in its seat."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forge_chaos import agents
from forge_chaos.errors import Misuse
from forge_chaos.nouns import Answer, Task
from forge_chaos.ports import Seat
from tests.cli.door import write

NATIVE = """
import helper

async def agent(task):
    return helper.answer

def plain(task, tools=None):
    return "plain"

class Called:
    async def __call__(self, task):
        return "called"

    def method(self, task):
        return "method"

called = Called()
nobody = object()

def build():
    return called.method

def wrong():
    raise LookupError("no key")

def none(name):
    return None

async def bare():
    return "DONE"
"""
SHOP = """
from pydantic_ai import Agent

agent = Agent()

@agent.tool_plain
def read_text(file_path: str) -> str:
    '''Read a text file.'''
    return ''

def build():
    return agent

def build_with(model=None):
    return agent
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The user's folder; what is imported from it is forgotten afterwards."""
    write(
        tmp_path,
        {"mine.py": NATIVE, "helper.py": "answer = 'helped'", "pack/deep.py": NATIVE, "shop.py": SHOP},
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def answer(seat: Seat) -> str:
    """What the agent in this seat says when it is given nothing."""

    async def ask() -> Answer:
        gate: Any = None
        return await seat.agent(Task("", 1), {}, {}, gate, None)

    return asyncio.run(ask()).text


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("mine:agent", "helped"),
        ("mine.py:agent", "helped"),
        ("./mine.py:agent", "helped"),
        ("mine:plain", "plain"),
        ("mine:called", "called"),
        ("mine:Called", "called"),
        ("mine:called.method", "method"),
        ("mine:build", "method"),
    ],
)
def test_a_native_agent_is_found(spec: str, said: str) -> None:
    seat = agents.seat(spec)
    assert (seat.adapter, answer(seat)) == ("native", said)


def test_a_file_finds_what_lies_beside_it(folder: Path) -> None:
    (folder / "helper.py").rename(folder / "pack" / "helper.py")
    assert answer(agents.seat("pack/deep.py:agent")) == "helped"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("spec", "forced"),
    [
        ("shop:agent", None),
        ("shop.py:build", None),
        ("shop:agent", "pydantic-ai"),
        ("shop:build_with", "pydantic_ai"),  # by itself a native agent, for it takes a model
    ],
)
def test_a_framework_is_known_by_its_object(spec: str, forced: str | None) -> None:
    seat = agents.seat(spec, forced)
    assert (seat.adapter, list(seat.specs or ())) == ("pydantic-ai", ["read_text"])


@pytest.mark.parametrize(
    ("spec", "adapter"), [(None, "native"), ("reference", "native"), ("framework:pydantic_ai", "pydantic-ai")]
)
def test_a_stock_loop_takes_the_scenarios_tools(spec: str | None, adapter: str) -> None:
    seat = agents.seat(spec)
    assert (seat.adapter, seat.specs) == (adapter, None)
    assert spec is None or agents.stock(spec)
    assert not agents.stock("mine:agent")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("spec", "forced", "says"),
    [
        ("mine", None, r"cannot read agent 'mine'\. Write module:attribute"),
        ("mine:", None, "cannot read agent"),
        (":agent", None, "cannot read agent"),
        ("cmd:", None, "cmd: names no command"),
        ("cmd: no-such-program mine.py", None, "is in no folder of PATH"),
        ("target:nowhere.json:go", None, "nowhere.json: cannot be read"),
        ("nowhere:agent", None, "No module named 'nowhere'"),
        ("nowhere.py:agent", None, r"there is no file 'nowhere\.py'"),
        ("mine:agnt", None, "has no attribute 'agnt'. Did you mean 'agent'?"),
        ("mine:called.metod", None, "has no attribute 'metod'"),
        ("mine:nobody", None, r"an object of type builtins\.object\. A native agent is"),
        ("mine:none", None, r"a function none\(name\)"),
        ("mine:bare", None, r"a function bare\(\)\. A native agent is"),
        ("mine:wrong", None, r"a function wrong\(\) raised LookupError: no key \(.*mine\.py:24\)"),
        ("framework:pydanticai", None, "no framework 'pydanticai'. Did you mean 'pydantic-ai'?"),
        ("mine:agent", "nativ", "no adapter 'nativ'. Did you mean 'native'?"),
        ("mine:agent", "pydantic-ai", "is no pydantic_ai.Agent"),
        (None, "native", "--agent framework:native"),
        ("framework:native", "native", "--agent module:attribute"),
    ],
)
def test_what_is_wrong_is_said(spec: str | None, forced: str | None, says: str) -> None:
    with pytest.raises(Misuse, match=says):
        agents.seat(spec, forced)
