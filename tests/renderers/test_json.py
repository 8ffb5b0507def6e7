"""The JSON object of a result, key by key."""

from __future__ import annotations

from json import loads
from typing import Any

from forge_chaos.renderers.json import json
from forge_chaos.verdict import Skipped
from tests.test_score import card, clean, trial


def strict(text: str) -> Any:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return loads(text, parse_constant=refuse)


TRIALS = [
    clean(),
    trial("recovered", "timeout@1..:read_file(b)"),
    trial("looped", ("timeout.hangs:read_file(a)", "timeout@2"), why="thrice", evidence=(4, 9)),
    trial("not_reached", "timeout@9", fired=()),
]


def test_it_is_exactly_the_object_of_the_format() -> None:
    found = strict(json(card(TRIALS, skipped=(Skipped("s9", "no tool"),)), TRIALS))
    assert found == {
        "run": "reports/0001-reference",
        "agent": "reference",
        "model": "scripted",
        "persona": "expert",
        "seed": 1,
        "clean": {"passed": 2, "of": 2},
        "classes": [
            {
                "fault": "timeout",
                "planned": 3,
                "fired": 2,
                "acceptable": 1,
                "robustness": 0.5,
                "recovery": 0.5,
                "honesty": None,
                "safety": 1.0,
                "seen": 1.0,
                "retained": -0.5,
                "low": None,
                "high": None,
                "census": True,
                "outcomes": {"looped": 1, "recovered": 1},
            }
        ],
        "overall": 0.5,
        "trials": 4,
        "not_reached": 1,
        "failures": [
            {
                "scenario": "s1",
                "plan": "timeout.hangs:read_file(a),timeout@2",
                "outcome": "looped",
                "layer": "unknown",
                "swapped": [],
                "reason": None,
                "why": "thrice",
                "evidence": [4, 9],
                "replay": "forge-chaos replay run:t",
            }
        ],
        "skipped": [{"scenario": "s9", "why": "no tool"}],
        "wordings": [],
        "unreached": {},
        "exit": 1,
    }


def test_hostile_text_stays_strict_and_ascii() -> None:
    trials = [clean(), trial("crashed", why='NUL \x00, lone \udc80, "quoted", é\u2028')]
    text = json(card(trials), trials)
    assert text.isascii()
    assert strict(text)["failures"][0]["why"] == 'NUL \x00, lone \\udc80, "quoted", é\u2028'


def test_the_order_of_the_trials_changes_nothing() -> None:
    assert json(card(TRIALS), TRIALS) == json(card(TRIALS[::-1]), TRIALS[::-1])


def test_failures_are_sorted_by_scenario_and_plan() -> None:
    trials = [trial("looped", f"timeout@{n}", s) for n in (3, 1, 2) for s in ("b", "a")]
    found = strict(json(card(trials), trials))["failures"]
    assert [(f["scenario"], f["plan"]) for f in found] == [
        (s, f"timeout@{n}") for s in "ab" for n in (1, 2, 3)
    ]
