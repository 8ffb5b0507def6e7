"""Whose a failure is, by substitution and not by guess: what happens to it when one half of the agent is another's.

The expert stands in for the model, the reference loop for the agent's own. A failure that stays with the expert is
the harness's; one that stays in the reference loop is the model's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from forge_chaos import score
from forge_chaos.judge import clean_pass
from forge_chaos.verdict import Half, Layer, Swapped, Trial

RUNS = 3  # of a half that is not deterministic
UNJUDGED = ("invalid", "unfair")
Cell = tuple[str, tuple[str, ...], int]


def cell(trial: Trial) -> Cell:
    """What two trials have in common that differ in repetition alone."""
    return trial.scenario, trial.rules, trial.seed


def layer(ends: Iterable[Swapped]) -> Layer:
    """Both halves fail alone: both; one does: it; none: the two only fail together. Where one end is not known,
    the half that is known to fail alone is named, and of no half that is known not to is anything concluded."""
    fails = {"harness" if end.half == "model" else "model": end.fails for end in ends}
    harness, model = fails.get("harness"), fails.get("model")
    if harness and model:
        return "both"
    if harness:
        return "harness"
    if model:
        return "model"
    return "unknown" if harness is None or model is None else "interaction"


def bad(original: Trial, again: Trial) -> bool | None:
    """Did the trial with one half swapped end badly? None when nobody was judged by it, or when it met none of
    the faults that the original met."""
    if again.judgement.outcome in UNJUDGED:
        return None
    if again.facts.fired:
        return not again.judgement.acceptable
    return None if original.facts.fired else not clean_pass(again.facts)


def chosen(failures: Sequence[Trial]) -> list[Trial]:
    """One trial of each failing cell: of each fault and outcome one before any second."""
    firsts: dict[Cell, Trial] = {}
    for trial in failures:
        if trial.judgement.outcome not in UNJUDGED:
            firsts.setdefault(cell(trial), trial)
    turns: Counter[tuple[str, str]] = Counter()
    ranked = []
    for place, trial in enumerate(firsts.values()):
        kind = (score.key(trial), trial.judgement.outcome)
        ranked.append((turns[kind], place, trial))
        turns[kind] += 1
    return [trial for *_, trial in sorted(ranked, key=lambda rank: rank[:2])]


def end(half: Half, original: Trial, again: Sequence[Trial]) -> Swapped:
    """The end with that half swapped, of one trial or of several."""
    known = [(trial, ended) for trial in again if (ended := bad(original, trial)) is not None]
    failed = [trial for trial, ended in known if ended]
    shown = next(iter(failed or [trial for trial, _ in known] or again), None)
    return Swapped(
        half,
        len(failed),
        len(known),
        shown.judgement.outcome if shown else "",
        shown.judgement.why if shown else "",
    )


def itself(half: Half, original: Trial) -> Swapped:
    """The end where that half is already what would stand in for it."""
    return Swapped(half, 1, 1, original.judgement.outcome, original.judgement.why, same=True)
