"""What a search has found: frozen data, from one failure to the whole result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from forge_chaos.verdict import Facts, Outcome, Skipped, Trial


@dataclass(frozen=True, slots=True)
class Key:
    """What makes two failures the same one: where, how it ended, and the first thing that convicts."""

    scenario: str
    outcome: Outcome
    invariant: str = ""

    def __str__(self) -> str:
        return f"{self.scenario}: {self.outcome}" + (f" ({self.invariant})" if self.invariant else "")


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure with the smallest plan that was found for it.

    `minimal`: verified that the failure is gone without any one rule, and with any one rule made simpler.
    `simpler`: how many plans there are that are one such step simpler. `failed` of `runs` trials of the plan ended so. `at`: the number of the trial that found it, `trials`:
    how many were spent on making it small. `differs`: the first event that was another one when the plan
    was replayed, then and now; None when the traces are equal, or are not expected to be. `replayed`: the
    plan was run again in a fresh process and failed so again. `lines`: what convicts, of the trace.
    """

    key: Key
    plan: tuple[str, ...]
    seed: int
    hash: str
    why: str
    evidence: tuple[int, ...]
    lines: tuple[str, ...]
    layer: str
    at: int
    trials: int
    minimal: bool = False
    simpler: int = 0
    replayed: bool = False
    failed: int = 1
    runs: int = 1
    differs: tuple[str, str] | None = None
    command: str = ""
    saved: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """A search from start to end. `fired`: trials in which a rule fired. `cells`: rules that there were to
    choose from. `flaky`: failures that were not there any more when their plan was replayed."""

    directory: str
    agent: str
    seed: int
    budget: int
    trials: int
    fired: int
    cells: int
    failures: tuple[Failure, ...] = ()
    flaky: tuple[Failure, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    broken: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    exit: int = 0
    demonstration: bool = False
    extra: dict[str, Any] = field(default_factory=dict)


def key_of(trial: Trial) -> Key | None:
    """Which failure the trial shows; None when it ended acceptably, or counts for nothing."""
    said = trial.judgement
    if said.acceptable or not said.scored:
        return None
    return Key(trial.scenario, said.outcome, _convicted(said.outcome, trial.facts))


def _convicted(outcome: Outcome, facts: Facts) -> str:
    """The name of the first invariant or grader that does not hold."""
    of = {"damaged": facts.damage, "looped": facts.loops, "violated": facts.violations}
    if outcome in of:
        return next((verdict.name for verdict in of[outcome]), "")
    if outcome in ("hung", "crashed"):
        return ""
    return next((verdict.name for verdict in facts.graders if verdict.truth != "pass"), "")
