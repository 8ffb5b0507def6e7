from __future__ import annotations

from importlib import reload

import pytest

from forge_chaos.specimens import limits
from tests.conformance import table
from tests.specimens.playing import calls, finished, play

GONE = "missing_file.never@1..:read_file(orders.csv)"
STEPS = table.scenario("sum_orders").limits.steps


@pytest.mark.parametrize("agent", [limits.ignores_limit, limits.counts_turns])
def test_they_make_more_calls_than_they_may(agent: object) -> None:
    trial = play(agent, "sum_orders", GONE)
    assert len(calls(trial)) > STEPS
    assert trial.facts.end == "stopped"


def test_boasts_at_limit_keeps_it() -> None:
    trial = play(limits.boasts_at_limit, "sum_orders", GONE)
    assert len(calls(trial)) == STEPS
    assert finished(trial).answer == "DONE"


def test_counts_across_runs_fails_after_some_runs_and_not_at_first() -> None:
    agent = reload(limits).counts_across_runs
    with table.seated(agent) as bench:
        passed = [table.play("sum_orders", by=bench).judgement.acceptable for _ in range(20)]
    assert passed[0]
    assert not passed[-1]
    assert passed == sorted(passed, reverse=True)


def test_waits_for_ever_only_for_what_never_answers() -> None:
    late = play(limits.waits_for_ever, "sum_orders", "timeout.late:read_file(orders.csv)")
    assert late.judgement.acceptable
    hangs = play(limits.waits_for_ever, "sum_orders", "timeout.hangs:read_file(orders.csv)")
    assert hangs.facts.end == "hung"


def test_runs_a_whole_batch_and_keeps_the_limit_otherwise() -> None:
    flooded = play(limits.runs_whole_batch, "sum_orders", "bad_tool_call.flood")
    assert len(calls(flooded)) > STEPS
    assert flooded.facts.end == "stopped"
    alone = play(limits.runs_whole_batch, "sum_orders", GONE)
    assert len(calls(alone)) <= STEPS
    assert alone.facts.end == "answered"
