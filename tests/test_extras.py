"""Which packages make up a framework."""

from __future__ import annotations

from importlib import metadata

import pytest

from forge_chaos import agents
from forge_chaos.extras import installed


def test_an_adapter_is_made_of_what_its_extra_asks_for() -> None:
    assert dict(installed("pydantic-ai")) == {"pydantic-ai-slim": metadata.version("pydantic-ai-slim")}
    assert dict(installed("pydantic_ai")) == dict(installed("pydantic-ai"))
    both = {name: metadata.version(name) for name in ("fastmcp", "mcp")}
    assert dict(installed("mcp")) == dict(installed("fastmcp")) == both


@pytest.mark.parametrize("adapter", ["native", "command", "nothing-of-this-name", "mc", "pydantic"])
def test_what_has_no_extra_is_made_of_nothing(adapter: str) -> None:
    assert installed(adapter) == ()


def test_every_framework_has_an_extra_and_nothing_else_has() -> None:
    lines = metadata.requires("forge-chaos") or []
    extras = {line.rpartition("==")[2].strip(" '\"") for line in lines if "extra ==" in line}
    for name in agents.frameworks():
        assert name in extras or name == "fastmcp"
    assert set(agents.frameworks()).isdisjoint({"native", "command"})
