from __future__ import annotations

import json
from itertools import pairwise

import pytest

from forge_chaos.events import Asked, Trace, find
from forge_chaos.specimens import history
from tests.specimens.playing import play, sent

TROUBLE = "tool_exception.runtime:read_file(orders.csv)"


def requests(trace: Trace) -> list[list[str]]:
    """The roles of the messages of each request."""
    shown: list[str] = []
    found = []
    for _, asked in find(trace, Asked):
        shown = [*shown[: asked.kept], *(message["role"] for message in asked.messages)]
        found.append(shown)
    return found


@pytest.mark.parametrize("agent", [history.cuts_pairs, history.drops_task, history.grows])
def test_a_short_history_is_left_alone_and_a_long_one_cut(agent: object) -> None:
    assert max(map(len, requests(play(agent, "sum_orders").trace))) < history.MOST
    long = requests(play(agent, "sum_orders", TROUBLE).trace)
    assert max(map(len, long)) <= history.MOST
    assert any(len(later) < len(earlier) + 2 for earlier, later in pairwise(long))


def test_each_cuts_in_its_own_place() -> None:
    last = {
        agent.__name__: requests(play(agent, "sum_orders", TROUBLE).trace)[-1]
        for agent in (history.cuts_pairs, history.drops_task, history.grows)
    }
    assert last["cuts_pairs"][:2] == ["user", "tool"]
    assert "user" not in last["drops_task"]
    assert last["grows"][:3] == ["user", "user", "assistant"]


def test_old_arguments_are_cut_short_with_a_mark_and_new_ones_are_not() -> None:
    trial = play(
        history.shortens_arguments, "dedupe_payments", "tool_exception.runtime:read_file(unique.csv)"
    )
    texts = [
        json.loads(call["function"]["arguments"]).get("text", "")
        for message in sent(trial)
        for call in message.get("tool_calls") or ()
    ]
    marked = [text for text in texts if text.endswith("...[truncated]")]
    assert marked
    assert all(len(text) == history.SHOWN + len("...[truncated]") for text in marked)
    assert texts.index(marked[0]) > texts.index(next(text for text in texts if len(text) > history.SHOWN))
