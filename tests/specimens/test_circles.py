from __future__ import annotations

from forge_chaos.specimens import circles
from tests.specimens.playing import calls, play


def test_relists_lists_nothing_but_the_folder_until_the_budget_ends_it() -> None:
    trial = play(circles.relists, "sum_orders", "tool_exception.os:write_file(total.txt)")
    assert [called.tool for called in calls(trial)][-3:] == ["list_files"] * 3
    assert trial.facts.end == "stopped"


def test_goes_in_circles_by_three_calls_and_only_while_nothing_shows() -> None:
    rule = "silent_noop.says_done{}:edit_file(service.ini)"
    once = play(circles.goes_in_circles, "edit_port", rule.format(""))
    assert once.judgement.acceptable, str(once)
    ever = play(circles.goes_in_circles, "edit_port", rule.format("@1.."))
    assert [called.tool for called in calls(ever)][-3:] == ["list_files", "edit_file", "read_file"]


def test_guesses_never_looks_into_the_folder() -> None:
    trial = play(circles.guesses, "read_version", "missing_file.renamed@1..:read_file(conf/app.toml)")
    assert calls(trial, "list_files") == []
    assert calls(trial)[2].target == "conf/app.toml.2"
