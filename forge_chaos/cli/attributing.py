"""`forge-chaos run --attribute`: the failing cells again, once with the expert as the model and once in the
reference loop. None of these trials is stored or scored."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from forge_chaos import agents, attribution, campaign, score
from forge_chaos.attribution import RUNS, Cell, cell
from forge_chaos.bench import OWN, SCRIPTED, Bench, Setup
from forge_chaos.judging import translated
from forge_chaos.notation import parse, write
from forge_chaos.order import Order, trial_id
from forge_chaos.ports import Executor
from forge_chaos.seeds.reasons import LAYERS
from forge_chaos.store import Store
from forge_chaos.verdict import Half, Swapped, Trial

MOST = 20  # cells of one run that are tried again


def attributed(
    run: campaign.Run,
    made: campaign.Campaign,
    store: Store,
    agree: campaign.Consent,
    progress: campaign.Progress = campaign.silent,
) -> campaign.Run:
    """The run with the layer of each failure that was tried again, in the store too. What is tried is said
    before; `agree` is told how many trials a real model has to play, and may raise."""
    failures = score.failures(run.scorecard, run.trials)
    every = attribution.chosen(failures)
    chosen = every[:MOST]
    if not chosen:
        return run
    halves = _halves(made)
    total = sum(half.cost(trial) for half in halves for trial in chosen)
    of = f"{MOST} of {len(every)} failing cells" if len(every) > MOST else _plural(len(every), "failing cell")
    more = _plural(total, "more trial")
    sys.stderr.write(f"forge-chaos: --attribute tries {of} again: {more}, not scored.\n")
    if made.setup.model not in (SCRIPTED, OWN):
        agree(sum(halves[1].cost(trial) for trial in chosen))
    done = 0
    found: dict[Cell, list[Swapped]] = {cell(trial): [] for trial in chosen}
    for half in halves:
        with half.seated(chosen):
            for trial in chosen:
                found[cell(trial)].append(half.end(trial, store))
                done += half.cost(trial)
                progress(done, total, "swapped")
    told = {trial.id: _told(trial, found[cell(trial)]) for trial in failures if cell(trial) in found}
    store.amend(told.values())
    return replace(run, trials=tuple(told.get(trial.id, trial) for trial in run.trials))


def _told(trial: Trial, ends: Sequence[Swapped]) -> Trial:
    """The trial with its layer. A guess at the reason that the layer contradicts is none."""
    layer = attribution.layer(ends)
    denied = layer == "harness" and LAYERS.get(trial.reason) == "model"  # type: ignore[call-overload]  # any text
    return replace(trial, layer=layer, swapped=tuple(ends), reason="UNKNOWN" if denied else trial.reason)


@dataclass(slots=True)
class _Half:
    """One half of the agent swapped for ours. `setup` is who plays, None where the half is ours already; `plan`
    the rules of a trial in the words of the tools that are played over, None where it cannot be played."""

    made: campaign.Campaign
    setup: Setup | None
    half: Half
    runs: int = 1
    player: campaign.Campaign | None = None

    def plan(self, trial: Trial) -> tuple[str, ...] | None:
        scenario = self.made.home.scenario(trial.scenario, trial.seed)
        if self.half == "model":
            return None if scenario.solve is None else trial.rules
        if self.made.model == OWN:
            return None
        if self.made.own is None:
            return trial.rules
        said = [parse(rule) for rule in trial.rules]  # in the words of the agent's own tools
        rules = [
            r
            for rule in said
            for r in ([rule] if rule.tool == "*" else translated([rule], scenario, self.made.own))
        ]
        return tuple(map(write, rules)) if len(rules) == len(said) else None

    def cost(self, trial: Trial) -> int:
        """Trials that its end takes."""
        return 0 if self.setup is None or self.plan(trial) is None else self.runs

    @contextmanager
    def seated(self, trials: Sequence[Trial]) -> Iterator[None]:
        """Ready to play, if there is any to be played."""
        from forge_chaos.cli.running import seated

        if self.setup is None or not any(map(self.cost, trials)):
            yield
            return
        with seated(self.setup) as (executor, hello, home):
            self.player = self._judged_by(executor, hello, home)
            yield

    def _judged_by(self, executor: Executor, hello: Mapping[str, object], home: Bench) -> campaign.Campaign:
        assert self.setup is not None
        player = campaign.Campaign(self.setup, self.made.options, executor, hello, home)
        if self.half == "model":
            player.judge = self.made.judge  # the same agent: it knows which effects its clean trial had
        return player

    def end(self, trial: Trial, store: Store) -> Swapped:
        if self.setup is None:
            return attribution.itself(self.half, trial)
        rules = self.plan(trial)
        if rules is None or self.player is None:
            return Swapped(self.half, 0, 0)
        orders = [
            Order(
                trial_id(trial.scenario, f"{self.half}|{n}", rules, trial.seed, n),
                trial.scenario,
                rules,
                trial.seed,
                n,
            )
            for n in range(self.runs)
        ]
        again = [
            self.player.judged(order, trace, store.directory)
            for order, trace in self.player.executor.run(orders)
        ]
        return attribution.end(self.half, trial, again)


def _halves(made: campaign.Campaign) -> tuple[_Half, _Half]:
    setup, repeated = made.setup, min(RUNS, made.repetitions)
    expert = made.model == SCRIPTED and setup.persona == "expert"
    model = None if expert else replace(setup, persona="expert", model=SCRIPTED)
    ours = setup.agent in (None, agents.REFERENCE)
    workspace = None if setup.workspace == "fake" else setup.workspace
    harness = None if ours else replace(setup, agent=None, adapter=None, workspace=workspace)
    return (
        _Half(made, model, "model", 1 if made.hello["deterministic"] else repeated),
        _Half(made, harness, "harness", 1 if made.model == SCRIPTED else repeated),
    )


def _plural(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"
