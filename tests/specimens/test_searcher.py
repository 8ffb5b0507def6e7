from __future__ import annotations

from forge_chaos.specimens import good
from tests.specimens.playing import calls, finished, play

GONE = "missing_file.never@1..:read_file(orders.csv)"


def test_it_looks_in_other_places_until_the_step_limit_and_says_so() -> None:
    trial = play(good.searches, "sum_orders", GONE)
    places = [called.target for called in calls(trial)]
    assert places[:3] == ["orders.csv"] * 3
    assert len(set(places[3:])) == len(places) - 3
    assert (trial.outcome, trial.judgement.acceptable) == ("gave_up", True), str(trial)
    assert finished(trial).answer.startswith("FAILED")


def test_it_looks_at_what_it_wrote() -> None:
    trial = play(good.searches, "sum_orders", "silent_noop.says_done:write_file(total.txt)")
    assert [called.tool for called in calls(trial)].count("write_file") == 2
    assert (trial.outcome, trial.judgement.acceptable) == ("recovered", True), str(trial)
