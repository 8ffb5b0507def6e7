"""Trials for tests: one plan on one scenario, or a sweep. Nothing is written to the project."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from forge_chaos import campaign, judge, notation, score
from forge_chaos.errors import Broken, Misuse
from forge_chaos.events import Called, Started, Trace, find
from forge_chaos.order import Order, trial_id
from forge_chaos.plugin.seating import Seated
from forge_chaos.schedule import matches
from forge_chaos.store import Store
from forge_chaos.verdict import Scorecard, Trial


@dataclass(frozen=True, slots=True)
class Tried:
    """One trial of a plan. `stale` are the rules that did not fire, `hash` is the scenario's."""

    trial: Trial
    trace: Trace
    stale: tuple[str, ...]
    hash: str


@dataclass(frozen=True, slots=True)
class Swept:
    """A sweep. `failing` are the trials to look at, `unsolved` those without any fault that left their
    scenario out; `traces` are theirs."""

    card: Scorecard
    trials: tuple[Trial, ...]
    failing: tuple[Trial, ...]
    unsolved: tuple[Trial, ...]
    traces: Mapping[str, Trace]


def one(seated: Seated, plan: str, scenario: str | None, seed: int) -> Tried:
    """The plan, tried once on the scenario; None: on the first, by name, whose solution makes a call that
    the plan speaks of. Raises Misuse for a plan or scenario that does not exist or that this agent
    cannot be tried on."""
    rules = tuple(
        seated.home.resolve(notation.write(rule)).text for rule in notation.parse_plan(plan, seed).rules
    )
    if not rules:
        raise Misuse("the plan is empty. Write at least one rule, such as timeout@1:read_file.")
    name = scenario if scenario is not None else _first(seated, rules, seed)
    options = campaign.Options(plan=",".join(rules), scenarios=name, seed=seed)
    made = campaign.Campaign(seated.setup, options, seated.executor, seated.hello, seated.home)
    if len(made.names) != 1:
        raise Misuse(
            f"a plan is checked on one scenario, and {name!r} names {len(made.names)}: {', '.join(made.names)}."
        )
    if not made.scenarios:
        raise Misuse(f"scenario {made.skipped[0].scenario!r} cannot be tried: {made.skipped[0].why}.")
    (name,) = made.names
    order = Order(trial_id(name, seated.setup.agent or "", rules, seed, 0), name, rules, seed)
    clean = replace(order, id=f"{order.id}-clean", rules=(), kind="clean")
    learnt = made.own is None and made.scenarios[0].solve is not None
    for done, trace in seated.executor.run([order] if learnt else [clean, order]):
        trial = made.judged(done, trace, Path())
        if done.id == order.id:
            fired = {hit.rule for hit in trial.facts.fired}
            started = trace[0].body
            hash = started.hash if isinstance(started, Started) else ""
            return Tried(trial, trace, tuple(rule for rule in rules if rule not in fired), hash)
    raise Broken(f"the trial {order.id} did not come back")


def _first(seated: Seated, rules: Sequence[str], seed: int) -> str:
    options = campaign.Options(plan=",".join(rules), seed=seed)
    made = campaign.Campaign(seated.setup, options, seated.executor, seated.hello, seated.home)
    for scenario in made.scenarios:
        trace = made.judge.clean(scenario)
        if trace is not None and all(_speaks_of(seated, rule, trace) for rule in rules):
            return scenario.name
    raise Misuse(
        f"in no scenario a solution makes the calls that {options.plan} speaks of. Name one with scenario=NAME. "
        f"Known: {', '.join(made.names)}. (forge-chaos list scenarios)"
    )


def _speaks_of(seated: Seated, rule: str, trace: Trace) -> bool:
    resolved = seated.home.resolve(rule)
    called = (body for _, body in find(trace, Called))
    return resolved.seam in ("model", "turn") or any(matches(resolved.rule, c.tool, c.target) for c in called)


def sweep(
    seated: Seated,
    options: campaign.Options,
    replayed: Callable[[Trial], str],
    consent: campaign.Consent = campaign.free,
) -> Swept:
    """A run as `forge-chaos run` makes it, kept nowhere. `replayed` gives the command that shows a trial
    again."""
    made = campaign.Campaign(seated.setup, options, seated.executor, seated.hello, seated.home)
    _ = made.scenarios

    def progress(done: int, total: int, what: str) -> None:
        if seated.stopped.is_set():
            raise KeyboardInterrupt

    with (
        TemporaryDirectory(prefix="forge-chaos-") as place,
        Store.create(Path(place) / "run", made.config()) as store,
    ):
        done = made.run(store, progress, consent)
        trials = tuple(replace(trial, replay=replayed(trial)) for trial in done.trials)
        failing = score.failures(done.scorecard, trials)
        left_out = {skipped.scenario for skipped in done.scorecard.skipped}
        unsolved = tuple(
            trial
            for trial in trials
            if trial.kind == "clean" and trial.scenario in left_out and not judge.clean_pass(trial.facts)
        )
        traces = {trial.id: store.trace(trial.id) for trial in (*failing, *unsolved)}
    # The directory is gone, and with it what `forge-chaos replay` would read.
    skipped = (replace(s, why=s.why.partition(" See forge-chaos ")[0]) for s in done.scorecard.skipped)
    card = replace(done.scorecard, run="", skipped=tuple(skipped))
    return Swept(card, trials, failing, unsolved, traces)
