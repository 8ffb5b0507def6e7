from __future__ import annotations

from forge_chaos.events import Noted, find
from forge_chaos.specimens import turns
from tests.specimens.playing import calls, play, sent

RUNNING = "cancelled.running:read_file(orders.csv)"


def after_the_cancel(trial: object) -> list[dict[str, object]]:
    """What the model was sent once the next turn had begun."""
    return [m for m in sent(trial) if m["role"] == "tool" or "interrupted" in str(m.get("content"))]  # type: ignore[arg-type]  # a Played


def test_leaves_the_call_open() -> None:
    trial = play(turns.leaves_calls_open, "sum_orders", RUNNING)
    assert [m["role"] for m in after_the_cancel(trial)][:1] == ["user"]


def test_outlives_the_cancel_and_the_turn() -> None:
    trial = play(turns.outlives_cancel, "sum_orders", RUNNING)
    assert [verdict.name for verdict in trial.facts.violations] == ["after_turn"]


def test_swallows_the_cancel_and_goes_on() -> None:
    trial = play(turns.swallows_cancel, "sum_orders", "cancelled.late:read_file(orders.csv)")
    assert len(calls(trial)) > 1
    assert "ignored_cancel" in [verdict.name for verdict in trial.facts.violations]


def test_cuts_a_session_in_a_pair_and_keeps_one_that_nobody_wants_cut() -> None:
    trial = play(turns.cuts_session, "count_then_write", "truncated_context.session_window@2")
    assert [verdict.name for verdict in trial.facts.violations] == ["answer_without_call"]
    assert [noted.what for _, noted in find(trial.trace, Noted)][:2] == ["turn_ended", "turn"]
    assert play(turns.cuts_session, "count_then_write").judgement.acceptable
