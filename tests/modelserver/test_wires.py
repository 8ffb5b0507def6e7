"""The official clients over every wire: whole scenarios to their right ends, and the same moves on each."""

from __future__ import annotations

from typing import Any

import pytest

from forge_chaos.bench import Bench, Setup
from forge_chaos.events import Abandoned, Called, Returned, Trace, find
from forge_chaos.modelserver import chat, messages, responses, wires
from tests.conformance.table import Played, play
from tests.modelserver.clients import TALKS, seat

WAYS = ("async", "sync", "port")


def trial(name: str, *rules: str, talk: str, streamed: bool = False, way: str = "async") -> Played:
    home = Bench(Setup(), seat=seat(TALKS[talk], streamed, way))
    try:
        return play(name, *rules, by=home)
    finally:
        home.close()


def moves(trace: Trace) -> list[Any]:
    """What the model asked for, and what it was told."""
    found: list[Any] = []
    for event in trace:
        body = event.body
        if isinstance(body, Called):
            found.append((body.tool, dict(body.args), body.nth, body.order))
        elif isinstance(body, Returned | Abandoned):
            found.append(body)
    return found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize("talk", TALKS)
def test_a_client_is_led_through_a_scenario_with_calls_side_by_side(
    talk: str, streamed: bool, way: str
) -> None:
    played = trial("three_reads", talk=talk, streamed=streamed, way=way)
    assert played.facts.goal == "full", played
    assert (played.facts.claim, played.facts.end, played.facts.violations) == ("done", "answered", ()), played
    assert [body.order for _, body in find(played.trace, Called)][:3] == [(1, 0), (1, 1), (1, 2)]


CASES = [
    ("three_reads", ()),
    ("sum_orders", ("missing_file.renamed@1:read_file(orders.csv)",)),
    ("sum_orders", ("malformed_output.cut_json@1:read_file(orders.csv)",)),
    ("sum_orders", ("timeout.raises@1..:read_file(orders.csv)",)),
    ("charge_once", ("lost_reply.done_then_timeout@1:charge(*)",)),
    ("three_reads", ("truncated_context.newest@2..",)),
    ("three_reads", ("truncated_context.task_dropped@2",)),
    ("three_reads", ("truncated_context.summary_longer@2..",)),
    ("three_reads", ("truncated_context.unpaired@2",)),
    ("sum_orders", ("truncated_context.newest@2..",)),
]


@pytest.mark.parametrize(("name", "rules"), CASES, ids=str)
def test_a_trial_makes_the_same_moves_on_every_wire(name: str, rules: tuple[str, ...]) -> None:
    played = {talk: trial(name, *rules, talk=talk, streamed=n % 2 == 1) for n, talk in enumerate(TALKS)}
    first = played["chat"]
    assert moves(first.trace)
    for talk, other in played.items():
        assert moves(other.trace) == moves(first.trace), talk
        assert (other.outcome, other.facts.goal) == (first.outcome, first.facts.goal), talk
        assert [(f.rule, f.seen) for f in other.facts.fired] == [
            (f.rule, f.seen) for f in first.facts.fired
        ], talk


@pytest.mark.parametrize(
    ("path", "wire"),
    [
        ("/v1/chat/completions", chat),
        ("/v1/chat/completions?retry=1", chat),
        ("/t/7/v1/responses/", responses),
        ("/openai/v1/messages", messages),
        ("/v1/messages/count_tokens", None),
        ("/v1/completions", None),
        ("/", None),
    ],
)
def test_a_wire_is_found_by_its_path(path: str, wire: Any) -> None:
    assert wires.at(path) is wire
