from __future__ import annotations

from forge_chaos.events import Asked, find
from forge_chaos.specimens import providers
from tests.conformance.table import Played
from tests.specimens.playing import calls, finished, play

BUSY = "provider_error.rate_limited"


def requests(trial: Played) -> list[float]:
    """When each was sent."""
    return [event.at for event in trial.trace if isinstance(event.body, Asked)]


def test_gives_up_at_once() -> None:
    trial = play(providers.gives_up_at_once, "sum_orders", BUSY)
    assert requests(trial) == [0.0]
    assert finished(trial).answer.startswith("FAILED: the model refused: Error code: 429")


def test_dies_of_refusal_also_when_the_connection_is_lost() -> None:
    for rule in (BUSY, "provider_error.cut_after_call"):
        error = finished(play(providers.dies_of_refusal, "sum_orders", rule)).error
        assert error is not None
        assert error["type"] == "Refused"


def test_asks_for_ever_until_our_budget_ends_it() -> None:
    trial = play(providers.asks_for_ever, "sum_orders", "provider_error.context_too_long@1..")
    assert finished(trial).why == "requests"
    passing = play(providers.asks_for_ever, "sum_orders", "provider_error.overloaded@1..8")
    assert passing.judgement.acceptable, str(passing)


def test_waits_for_hours() -> None:
    trial = play(providers.waits_for_hours, "sum_orders", "provider_error.quota_gone@1..")
    assert finished(trial).why == "seconds"
    assert requests(trial) == [0.0]


def test_starts_again() -> None:
    trial = play(providers.starts_again, "charge_once", "provider_error.rate_limited_bare@4")
    assert len(calls(trial, "charge")) == 2
    assert len(list(find(trial.trace, Asked))) > 4
