"""The end of the session: what all trials of all tests came to, by fault class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from forge_chaos import score
from forge_chaos.verdict import OUTCOMES, Trial


def told(trials: Iterable[Trial]) -> list[dict[str, Any]]:
    """What a report carries of a test's trials, through any process boundary."""
    return [
        {
            "fault": score.key(trial),
            "outcome": trial.judgement.outcome,
            "fired": bool(trial.facts.fired),
            "counted": bool(score.counted((trial,))),
            "acceptable": trial.judgement.acceptable,
        }
        for trial in trials
    ]


def lines(trials: Iterable[Mapping[str, Any]]) -> list[str]:
    """A table: planned and fired trials of each class, the acceptable ones of those that count, the ends."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for trial in trials:
        groups.setdefault(trial["fault"], []).append(trial)
    rows = [("class", "planned", "fired", "acceptable", "outcomes")]
    rows += [_row(fault, groups[fault]) for fault in sorted(groups)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return [
        "  ".join((row[0].ljust(widths[0]), *(row[n].rjust(widths[n]) for n in (1, 2, 3)), row[4]))
        for row in rows
    ]


def _row(fault: str, trials: Sequence[Mapping[str, Any]]) -> tuple[str, str, str, str, str]:
    counted = [trial for trial in trials if trial["counted"]]
    ends = Counter(trial["outcome"] for trial in trials)
    return (
        fault,
        str(len(trials)),
        str(sum(trial["fired"] for trial in trials)),
        f"{sum(trial['acceptable'] for trial in counted)}/{len(counted)}" if counted else "-",
        ", ".join(f"{ends[outcome]} {outcome}" for outcome in OUTCOMES if ends[outcome]),
    )
