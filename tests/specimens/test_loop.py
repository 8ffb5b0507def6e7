from __future__ import annotations

import pytest

from forge_chaos import reference
from forge_chaos.specimens import _loop
from tests.specimens.playing import play

CASES = [
    ("sum_orders", "tool_exception.runtime@1..:read_file(orders.csv)"),
    ("three_reads", "timeout.hangs:read_file(north.txt)"),
    ("poll_job", "timeout.raises@2:poll_job"),
    ("charge_once", "lost_reply.done_later:charge"),
    ("sum_orders", "truncated_context.unpaired@2.."),
]


async def plain(task: object, tools: object, model: object) -> str:
    return await _loop.loop(task, tools, model)


@pytest.mark.parametrize(("scenario", "rule"), CASES)
def test_with_nothing_changed_it_is_the_reference_agent(scenario: str, rule: str) -> None:
    """Byte for byte: the same calls, messages and end."""
    ours, theirs = play(plain, scenario, rule).trace, play(reference.agent, scenario, rule).trace
    bodies = [[event.body for event in trace] for trace in (ours, theirs)]
    assert [repr(body) for body in bodies[0]] == [repr(body) for body in bodies[1]]
    assert len(ours) > 10


def test_what_words_a_result_may_raise_and_is_not_asked_of_an_error() -> None:
    def refuse(value: object) -> str:
        raise ValueError("no words")

    async def agent(task: object, tools: object, model: object) -> str:
        return await _loop.loop(task, tools, model, perform=_loop.worded(refuse))

    assert play(agent, "sum_orders").facts.error.startswith("ValueError: no words (test_loop.py:")
    failing = play(agent, "sum_orders", "missing_file.never@1..:read_file(orders.csv)")
    assert "FileNotFoundError" in str(failing.trace)
