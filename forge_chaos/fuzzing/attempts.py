"""Plans tried on an agent: each once, counted against a budget, and known from then on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from forge_chaos import judge, notation
from forge_chaos.campaign import Campaign, Progress, silent
from forge_chaos.errors import Broken
from forge_chaos.events import Trace
from forge_chaos.fuzzing.found import Key, key_of
from forge_chaos.nouns import Rule
from forge_chaos.order import Order, trial_id
from forge_chaos.verdict import Skipped, Trial

RUNS, NEEDED = 5, 4  # of an agent that is not deterministic: so many fail before its plan counts as failing


class Spent(Exception):
    """The budget is spent."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of a plan. `key`: the failure, None where it ended acceptably often enough. `trial` and
    `trace` are those of a run that failed so, else of the first; the trace is empty where a plan that is
    known did not fail."""

    key: Key | None
    failed: int
    runs: int
    trial: Trial
    trace: Trace


@dataclass
class Attempts:
    """The trials of one search. `spent` counts every run of the agent, clean ones included; `log` has
    a line for each."""

    made: Campaign
    budget: int
    progress: Progress = silent
    spent: int = 0
    fired: int = 0
    broken: list[Trial] = field(default_factory=list)
    log: list[dict[str, Any]] = field(default_factory=list)
    _known: dict[tuple[str, tuple[str, ...]], Tried] = field(default_factory=dict)

    @property
    def left(self) -> int:
        return max(0, self.budget - self.spent)

    def clean(self, scenario: str) -> Trace | Skipped:
        """A clean trace of the agent's that passes, or why the scenario is of no use. Raises Spent."""
        failed = None
        for repetition in range(1 if self.made.deterministic else RUNS):
            trial, trace = self.run(scenario, (), repetition)
            if judge.clean_pass(trial.facts):
                return trace
            failed = failed or trial
        assert failed is not None
        why = failed.judgement.why.removeprefix("No rule fired; as a clean trial it is ")
        return Skipped(scenario, f"the agent fails it without any fault: {why}")

    def __call__(self, scenario: str, plan: Sequence[Rule]) -> Tried:
        """What comes of the plan; a plan that is known is not run again. Raises Spent."""
        texts = tuple(map(notation.write, plan))
        known = self._known.get((scenario, texts))
        if known is not None:
            return known
        tried = self.anew(scenario, texts, self.made.deterministic)
        # Of what failed alone is the trace of use later on.
        self._known[scenario, texts] = tried if tried.key is not None else replace(tried, trace=())
        return tried

    def anew(self, scenario: str, texts: tuple[str, ...], once: bool) -> Tried:
        """What comes of the plan, run again: once, or until NEEDED of RUNS have failed or no longer can."""
        done: list[tuple[Key | None, Trial, Trace]] = []
        for repetition in range(1 if once else RUNS):
            trial, trace = self.run(scenario, texts, repetition)
            done.append((key_of(trial), trial, trace))
            if sum(key is None for key, _, _ in done) > RUNS - NEEDED:
                break
        counts = Counter(key for key, _, _ in done if key is not None)
        often = sum(counts.values())
        key = counts.most_common(1)[0][0] if often >= (1 if once else NEEDED) else None
        shown = next((each for each in done if key is not None and each[0] == key), done[0])
        return Tried(key, often, len(done), shown[1], shown[2])

    def fresh(self) -> None:
        """The next run meets a process in which the agent has not run yet, where it has one of its own."""
        self.made.executor.close()

    def run(self, scenario: str, texts: tuple[str, ...], repetition: int) -> tuple[Trial, Trace]:
        """One trial. Raises Spent when there is none left."""
        if not self.left:
            raise Spent
        made, seed = self.made, self.made.options.seed
        who = f"{made.agent}|{made.setup.persona}|{made.setup.model}"
        order = Order(
            trial_id(scenario, who, texts, seed, repetition),
            scenario,
            texts,
            seed,
            repetition,
            "fault" if texts else "clean",
        )
        for done, trace in made.executor.run([order]):
            trial = made.judged(done, trace, Path())
            self.spent += 1
            self.fired += bool(trial.facts.fired)
            self.log.append(
                {"scenario": scenario, "plan": list(texts), "outcome": trial.judgement.outcome}
                | {"acceptable": trial.judgement.acceptable, "repetition": repetition}
            )
            self.progress(self.spent, self.budget, "fuzz")
            if trial.judgement.outcome == "invalid":
                self.broken.append(trial)
            return trial, trace
        raise Broken(f"the trial {order.id} did not come back")
