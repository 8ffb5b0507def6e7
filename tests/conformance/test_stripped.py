"""Some frameworks strip white space off results, so no solution may hang on a line break at an end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from forge_chaos import judge, notation, reference
from tests.conformance import table


@dataclass
class Stripped:
    """Tools whose results come without white space at both ends."""

    inner: Any

    @property
    def specs(self) -> Any:
        return self.inner.specs

    def limit(self, name: str) -> Any:
        return self.inner.limit(name)

    async def call(self, name: str, args: Mapping[str, Any] | None = None, *, id: str | None = None) -> Any:
        value = await self.inner.call(name, args, id=id)
        return value.strip() if isinstance(value, str) else value


async def strips(task: Any, tools: Any, model: Any) -> str:
    return await reference.agent(task, Stripped(tools), model)


@pytest.mark.parametrize("name", table.NAMES)
def test_a_scenario_is_solved_on_results_without_outer_white_space(name: str) -> None:
    with table.seated(strips) as bench:
        played = table.play(name, by=bench)
        assert judge.clean_pass(played.facts), str(played)
        for rule in table.cells(name):
            if rule.fault == "missing_file":
                played = table.play(name, notation.write(rule), by=bench)
                assert played.judgement.acceptable, str(played)
