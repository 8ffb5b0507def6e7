"""What the wording of an error is worth: the same fault on the same call, clearly worded and not.

A run that tries both (`--faults "missing_file,missing_file+text=bare"`) gives pairs of trials that differ
in nothing but the text, so a difference in calls or ends is the text's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from forge_chaos.notation import parse, write
from forge_chaos.nouns import Rule
from forge_chaos.verdict import Trial

CLEAR = "clear"


@dataclass(frozen=True, slots=True)
class Pair:
    """One class under one other wording, beside the clear one, over the cells where both fired.

    `calls` and `calls_clear` are means of tool calls a trial, `acceptable` and `acceptable_clear` numbers
    of trials, of `cells` each.
    """

    fault: str
    text: str
    cells: int
    calls: float
    calls_clear: float
    acceptable: int
    acceptable_clear: int


def pairs(trials: Iterable[Trial]) -> tuple[Pair, ...]:
    """Every wording that was tried beside the clear one, sorted by class and wording."""
    played: dict[tuple[str, str], dict[object, Trial]] = {}
    for trial in trials:
        if trial.kind == "fault" and len(trial.rules) == 1 and trial.facts.fired and trial.judgement.scored:
            rule = parse(trial.rules[0])
            cells = played.setdefault((rule.fault, rule.text or CLEAR), {})
            cells[trial.scenario, _unworded(rule), trial.seed, trial.repetition] = trial
    return tuple(
        _pair(fault, text, cells, played[fault, CLEAR])
        for (fault, text), cells in sorted(played.items())
        if text != CLEAR and (fault, CLEAR) in played and cells.keys() & played[fault, CLEAR].keys()
    )


def said(pair: Pair) -> str:
    """The pair in a sentence."""
    return (
        f"{pair.fault}: worded {pair.text} {pair.calls:.1f} calls a trial, worded {CLEAR} "
        f"{pair.calls_clear:.1f}; acceptable {pair.acceptable} and {pair.acceptable_clear} of {pair.cells}"
    )


def _unworded(rule: Rule) -> str:
    return write(replace(rule, text=None))


def _pair(fault: str, text: str, one: Mapping[object, Trial], clear: Mapping[object, Trial]) -> Pair:
    both = [cell for cell in one if cell in clear]
    return Pair(
        fault,
        text,
        len(both),
        sum(one[cell].facts.steps for cell in both) / len(both),
        sum(clear[cell].facts.steps for cell in both) / len(both),
        sum(one[cell].judgement.acceptable for cell in both),
        sum(clear[cell].judgement.acceptable for cell in both),
    )
