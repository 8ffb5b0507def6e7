"""The words of a failure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from forge_chaos.plugin import saying
from tests.plugin.test_ends import swept, trial, tried


def test_a_sweep_shows_a_few_in_full_and_names_the_others() -> None:
    bad = trial("hung", False)
    trials = [replace(bad, id=f"t{n}", rules=(f"timeout.hangs@{n}:read_file",)) for n in range(1, 15)]
    lines = saying.sweep(swept(*trials))
    assert lines[0] == "14 of 14 trials with a fault did not end acceptably"
    assert lines.count("again: COMMAND") == saying.TOLD
    assert sum(line.startswith("hung, NOT acceptable") for line in lines) == saying.SHOWN
    assert lines[-1] == "... and 4 more"


def test_what_an_agent_wrote_cannot_steer_a_terminal() -> None:
    bad = trial("crashed", False)
    bad = replace(bad, judgement=replace(bad.judgement, why="It raised \x1b[2J and ended."))
    assert "\x1b" not in "".join(saying.trial(bad, ()))
    assert "\\x1b[2J" in "".join(saying.trial(bad, ()))


def test_a_stale_plan_says_whether_the_scenario_changed() -> None:
    stale = tried(trial("not_reached", True, fired=False))
    for then, said in ((None, False), ("b2:1", False), ("b2:0", True)):
        assert ("has changed" in saying.stale(stale, then, "SEARCH")[0]) == said


def test_classes_to_sweep() -> None:
    assert saying.classes(["timeout.hangs@2:read_file", "timeout.hangs@3", "50%missing_file@1.."]) == (
        "timeout.hangs,missing_file"
    )


def test_a_path_from_here() -> None:
    assert saying.from_here(Path("/a/b/c"), Path("/a")) == "b/c"
    assert saying.from_here(Path("/x/c"), Path("/a")) == "/x/c"
