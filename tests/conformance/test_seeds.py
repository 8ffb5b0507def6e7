"""What is right differs from seed to seed: an agent that has learnt the answers by heart fails."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from forge_chaos.events import Called, Finished, find
from forge_chaos.judge import clean_pass
from tests.conformance import table
from tests.conformance.table import Played

NOTHING_DRAWN: frozenset[str] = frozenset()
"""Scenarios without a value that a seed could change. None of ours; a reason belongs beside each name."""

DRAWN = [name for name in table.NAMES if name not in NOTHING_DRAWN]


def by_heart(learnt: Played) -> Callable[..., Coroutine[Any, Any, str]]:
    """An agent that makes the calls of an earlier trial again and gives its answer, whatever it is told."""
    calls = [called for _, called in find(learnt.trace, Called)]
    answer = next(finished.answer for _, finished in find(learnt.trace, Finished))

    async def agent(tools: Any) -> str:
        for called in calls:
            try:
                await tools.call(called.tool, called.args)
            except Exception:
                continue
        return answer

    return agent


@pytest.mark.parametrize("name", table.NAMES)
def test_values_are_drawn_from_the_seed(name: str) -> None:
    first, second = (table.scenario(name, seed).values for seed in (1, 2))
    assert (first != second) == (name in DRAWN)


@pytest.mark.parametrize("name", DRAWN)
def test_who_hard_codes_the_answers_of_seed_1_passes_there_and_fails_under_seed_2(name: str) -> None:
    learnt = table.play(name, seed=1)
    with table.seated(by_heart(learnt)) as bench:
        there, elsewhere = (table.play(name, by=bench, seed=seed) for seed in (1, 2))
    assert clean_pass(there.facts), str(there)
    assert not clean_pass(elsewhere.facts), str(elsewhere)
    assert elsewhere.facts.goal != "full"
