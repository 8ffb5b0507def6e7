"""JUnit XML that any parser reads, whatever an agent said."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_chaos.renderers.junit import junit
from forge_chaos.verdict import Skipped
from tests.test_score import card, clean, trial

TRIALS = [
    clean(),
    trial("recovered", "timeout@1"),
    trial("looped", "timeout@2", why="asked thrice", evidence=(7,)),
    trial("unfair", "timeout@3"),
    trial("not_reached", "timeout@4", fired=()),
    trial("invalid", "timeout@5", why="a grader raised"),
    trial("recovered", "missing_file"),
    trial("damaged", ("timeout", "missing_file")),
]
CLASSES = ("timeout", "missing_file")


def test_one_suite_per_class_with_its_counts() -> None:
    root = ET.fromstring(junit(card(TRIALS, CLASSES), TRIALS))
    counts = {
        s.get("name"): tuple(s.get(k) for k in ("tests", "failures", "errors", "skipped")) for s in root
    }
    assert counts == {
        "timeout": ("5", "1", "1", "2"),
        "missing_file": ("1", "0", "0", "0"),
        "missing_file+timeout": ("1", "1", "0", "0"),
        "verdict": ("1", "0", "1", "0"),
    }
    assert tuple(root.get(k) for k in ("tests", "failures", "errors", "skipped")) == ("8", "2", "2", "2")


@pytest.mark.parametrize(
    ("rule", "tag", "kind"),
    [
        ("timeout", None, None),
        ("timeout@2", "failure", "looped"),
        ("timeout@3", "skipped", None),
        ("timeout@4", "skipped", None),
        ("timeout@5", "error", "invalid"),
    ],
)
def test_what_each_outcome_becomes(rule: str, tag: str | None, kind: str | None) -> None:
    trials = [trial("recovered", "timeout"), *TRIALS[2:6]]
    root = ET.fromstring(junit(card(trials), trials))
    case = next(case for case in root.iter("testcase") if case.get("name") == rule)
    found = [child for child in case if child.tag != "properties"]
    assert [child.tag for child in found] == ([tag] if tag else [])
    assert [child.get("type") for child in found] == ([kind] if tag else [])
    assert case.get("classname") == "forge-chaos.timeout.s1"


def test_a_failure_holds_reason_evidence_and_replay() -> None:
    root = ET.fromstring(junit(card(TRIALS, CLASSES), TRIALS))
    failure = root.find("testsuite/testcase/failure")
    assert failure is not None
    assert failure.get("message") == "looped: asked thrice"
    assert failure.text == "asked thrice (event 7)\nforge-chaos replay run:t"


def test_properties_hold_the_scores_and_what_they_stand_on() -> None:
    root = ET.fromstring(junit(card(TRIALS, CLASSES), TRIALS))
    said = {p.get("name"): p.get("value") for p in root[0].findall("properties/property")}
    assert said["acceptable"] == "1/2"
    assert said["robustness"] == "0.5"
    assert (said["agent"], said["seed"], said["exit"]) == ("reference", "1", "3")


def test_scenarios_left_out_stand_in_a_suite_of_their_own() -> None:
    trials = [trial()]
    root = ET.fromstring(junit(card(trials, skipped=(Skipped("s9", "no tool"),)), trials))
    assert [(suite.get("name"), suite.get("skipped")) for suite in root] == [("timeout", "0"), ("clean", "1")]


HOSTILE = st.text() | st.text("<>&\"'\x00\x1b\r\n\t\ud800\udfff\ufffe\uffff]\U0001f600", max_size=20)


@given(HOSTILE, HOSTILE)
def test_any_text_gives_well_formed_xml(why: str, name: str) -> None:
    trials = [trial("crashed", scenario=name, why=why)]
    text = junit(card(trials, skipped=(Skipped(name + "x", why),)), trials)
    root = ET.fromstring(text.encode())
    assert [suite.get("tests") for suite in root] == ["1", "1"]


def test_what_xml_cannot_hold_is_escaped_and_the_rest_kept() -> None:
    trials = [trial("crashed", why="a\x00b\udc80c\td<é>")]
    failure = ET.fromstring(junit(card(trials), trials)).find("testsuite/testcase/failure")
    assert failure is not None
    assert failure.get("message") == "crashed: a\\x00b\\udc80c\td<é>"


def test_the_order_of_the_trials_changes_nothing() -> None:
    assert junit(card(TRIALS, CLASSES), TRIALS) == junit(card(TRIALS[::-1], CLASSES), TRIALS[::-1])


@pytest.mark.parametrize(("exit", "errors"), [(0, 0), (1, 0), (2, 1), (3, 1)])
def test_a_run_without_a_verdict_is_an_error(exit: int, errors: int) -> None:
    found = ET.fromstring(
        junit(replace(card([clean(), trial()]), exit=exit, reasons=("timeout never fired.",)), ())
    )
    said = [case for suite in found if suite.get("name") == "verdict" for case in suite.iter("error")]
    assert [case.get("message") for case in said] == ["timeout never fired."] * errors
    assert found.get("errors") == str(errors)
