"""JUnit XML for CI servers: one suite per fault class, one case per trial."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

from forge_chaos import score
from forge_chaos.renderers import _words
from forge_chaos.verdict import Row, Scorecard, Trial

# XML 1.0, section 2.2; a carriage return would come back as a line feed.
_FORBIDDEN = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(card: Scorecard, trials: Sequence[Trial]) -> str:
    """Unacceptable is a failure, invalid an error, unfair and not reached are skipped.

    A suite `clean` holds the trials without a fault that did not pass, and the scenarios left out. A last
    one, `verdict`, is an error where the run came to none.
    """
    gone = {skipped.scenario for skipped in card.skipped}
    of: dict[str, list[Trial]] = {row.fault: [] for row in card.rows}
    clean: list[Trial] = []
    failing = {trial.id for trial in score.failures(card, trials)}
    for trial in sorted(trials, key=lambda t: (t.scenario, t.rules, t.seed, t.repetition, t.id)):
        if trial.kind == "fault" and trial.scenario not in gone:
            of.setdefault(score.key(trial), []).append(trial)
        elif trial.judgement.outcome == "invalid":
            clean.append(trial)
    root = ET.Element("testsuites", name="forge-chaos")
    by_name = {row.fault: row for row in card.rows}
    for name, group in of.items():
        suite = _suite(root, card, name, by_name.get(name))
        for trial in group:
            _case(suite, name, trial, trial.id in failing)
        _count(suite)
    if clean or card.skipped:
        suite = _suite(root, card, "clean", None)
        for trial in clean:
            _case(suite, "clean", trial, True)
        for skipped in card.skipped:
            case = ET.SubElement(
                suite, "testcase", classname="forge-chaos.clean", name=_xml(skipped.scenario)
            )
            ET.SubElement(case, "skipped", message=_xml(skipped.why))
        _count(suite)
    if card.exit in (2, 3):  # no verdict, or none that holds: a CI server must not show green
        suite = _suite(root, card, "verdict", None)
        case = ET.SubElement(suite, "testcase", classname="forge-chaos.verdict", name="the run as a whole")
        ET.SubElement(case, "error", message=_xml(" ".join(card.reasons) or f"exit {card.exit}"))
        _count(suite)
    _total(root)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(root: ET.Element, card: Scorecard, name: str, row: Row | None) -> ET.Element:
    suite = ET.SubElement(root, "testsuite", name=_xml(name))
    said: dict[str, object] = {
        "run": card.run,
        "agent": card.agent,
        "model": card.model,
        "persona": card.persona,
        "seed": card.seed,
        "exit": card.exit,
        "clean": f"{card.clean_passed}/{card.clean_of}",
    }
    if row is not None:
        scores = ("robustness", "recovery", "honesty", "safety", "seen", "retained", "low", "high")
        said |= {
            "planned": row.planned,
            "fired": row.fired,
            "acceptable": f"{row.acceptable}/{score.scored(row)}",
        }
        said |= {field: getattr(row, field) for field in scores}
    _properties(suite, said.items())
    return suite


def _case(suite: ET.Element, name: str, trial: Trial, failing: bool) -> None:
    title = ", ".join(trial.rules) or "no fault"
    if trial.repetition:
        title += f" [{trial.repetition}]"
    case = ET.SubElement(
        suite, "testcase", classname=_xml(f"forge-chaos.{name}.{trial.scenario}"), name=_xml(title)
    )
    outcome = trial.judgement.outcome
    said = {"outcome": outcome, "layer": trial.layer, "reason": trial.reason or None, "seed": trial.seed}
    _properties(case, {**said, "replay": trial.replay}.items())
    why = f"{outcome}: {trial.judgement.why}"
    if outcome == "invalid":
        found = ET.SubElement(case, "error", type=outcome, message=_xml(why))
    elif failing:
        found = ET.SubElement(case, "failure", type=outcome, message=_xml(why))
    elif outcome in ("unfair", "not_reached"):
        ET.SubElement(case, "skipped", message=_xml(why))
        return
    else:
        return
    found.text = _xml("\n".join(filter(None, (_words.because(trial), _words.whose(trial), trial.replay))))


def _properties(parent: ET.Element, said: Iterable[tuple[str, object]]) -> None:
    box = ET.SubElement(parent, "properties")
    for name, value in said:
        if value is not None:
            ET.SubElement(box, "property", name=name, value=_xml(str(value)))


def _count(suite: ET.Element) -> None:
    suite.set("tests", str(len(suite.findall("testcase"))))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))


def _total(root: ET.Element) -> None:
    for attribute in ("tests", "failures", "errors", "skipped"):
        root.set(attribute, str(sum(int(suite.get(attribute, "0")) for suite in root)))


def _xml(text: str) -> str:
    """Text that XML 1.0 can hold: the rest as escapes that can be read."""
    return _FORBIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
