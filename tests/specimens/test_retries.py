from __future__ import annotations

from forge_chaos.specimens import retries
from tests.specimens.playing import calls, play, times, world


def charges(agent: object, rule: str) -> int:
    return len(world(play(agent, "charge_once", rule))["ledger"])


def test_retries_all_charges_as_often_as_it_tries() -> None:
    assert charges(retries.retries_all, "lost_reply.done_then_timeout@1..:charge") == retries.TRIES


def test_hedges_charges_twice_and_only_when_it_takes_long() -> None:
    assert charges(retries.hedges, "timeout.late:charge") == 2
    assert charges(retries.hedges, "lost_reply.done_then_timeout:charge") == 1


def test_repeats_finished_charges_again_and_only_after_a_refusal() -> None:
    assert charges(retries.repeats_finished, "truncated_context.unpaired@4") == 2
    assert charges(retries.repeats_finished, "truncated_context.newest@4") == 1


def test_retries_forever_is_ended_by_the_budget_alone() -> None:
    trial = play(retries.retries_forever, "charge_once", "tool_exception.runtime@1..:get_record")
    assert trial.facts.end == "stopped"
    assert len(calls(trial)) == 2 * 16
    assert times(trial, "get_record")[:3] == [0.0, 1.0, 2.0]


def test_stops_polling_lets_so_many_polls_pass() -> None:
    polls = calls(play(retries.stops_polling, "poll_job"), "poll_job")
    assert len(polls) == retries.POLLS
