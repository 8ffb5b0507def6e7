from __future__ import annotations

import json

from forge_chaos.specimens import errors
from tests.specimens.playing import calls, finished, play, sent

FAILS = "tool_exception.runtime:read_file(orders.csv)"


def test_aborts_raises_the_tools_own_exception() -> None:
    assert play(errors.aborts, "sum_orders", FAILS).facts.error.startswith("RuntimeError: ")


def test_dies_of_cancel_lives_with_any_other_exception() -> None:
    assert play(errors.dies_of_cancel, "sum_orders", FAILS).judgement.acceptable


def test_hides_shows_nothing_and_says_only_failed_hardly_anything() -> None:
    for agent, shown in ((errors.hides, "(no output)"), (errors.says_only_failed, "could not be run")):
        text = json.dumps(sent(play(agent, "sum_orders", FAILS)))
        assert "internal error" not in text
        assert shown in text


def test_gives_up_makes_no_second_try() -> None:
    trial = play(errors.gives_up, "sum_orders", FAILS)
    assert [called.tool for called in calls(trial)] == ["read_file"]
    assert finished(trial).answer.startswith("FAILED")


def test_reads_error_is_not_put_off_by_other_words() -> None:
    assert play(errors.reads_error, "sum_orders", FAILS).judgement.acceptable


def test_answers_with_it_gives_the_refusal_and_boasts_gives_done() -> None:
    cut = "truncated_context.unpaired@2.."
    assert finished(play(errors.answers_with_it, "sum_orders", cut)).answer.startswith("Error code: 400")
    assert finished(play(errors.boasts, "sum_orders", cut)).answer == "DONE"
