"""`forge-chaos replay`: a regression file or a stored trial, once more."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from forge_chaos import campaign, catalog, notation, regression, settings, story
from forge_chaos.bench import Setup
from forge_chaos.cli import running
from forge_chaos.errors import Broken, Misuse
from forge_chaos.events import Trace
from forge_chaos.order import Order, trial_id
from forge_chaos.store import Store
from forge_chaos.verdict import Trial

EVIDENCE = 6  # lines of the trace that are shown


def replay(
    what: str,
    agent: str | None,
    adapter: str | None,
    scenarios_dir: tuple[Path, ...],
    faults_dir: tuple[Path, ...],
) -> int:
    """Run it again, print the outcome with its evidence, return the exit code as the outcome is."""
    if what.endswith(".toml"):
        return _regression(Path(what), agent, adapter, scenarios_dir, faults_dir)
    directory, colon, id = what.rpartition(":")
    if not colon or not directory:
        raise Misuse(f"cannot read {what!r}. Name a regression file (*.chaos.toml) or RUN_DIR:TRIAL.")
    return _stored(Path(directory), id, agent, adapter)


def _stored(directory: Path, id: str, agent: str | None, adapter: str | None) -> int:
    with Store.open(directory) as store:
        setup = Setup.from_json(store.config["setup"])
        options = campaign.Options.from_json(store.config["options"])
        old = store.trial(id)
        try:
            before: Trace | None = store.trace(id)
        except Misuse:
            before = None
    if agent is not None:
        setup = replace(setup, agent=agent, adapter=adapter)
    order = Order(old.id, old.scenario, old.rules, old.seed, old.repetition, old.kind)
    trial, trace = run_one(setup, replace(options, scenarios=old.scenario), order, directory)
    _print(trial, trace)
    different = story.difference(before, trace) if before is not None else None
    if before is None:
        sys.stdout.write("The stored trace was not kept, so nothing is compared.\n")
    elif different is None:
        sys.stdout.write("The trace is equal to the stored one.\n")
    else:
        was, now = different
        sys.stdout.write(
            "The trace differs from the stored one, first here:\n"
            f"  stored  {story.line(was) if was else 'nothing more'}\n"
            f"  now     {story.line(now) if now else 'nothing more'}\n"
        )
    return code_of(trial)


def _regression(
    path: Path,
    agent: str | None,
    adapter: str | None,
    scenarios_dir: tuple[Path, ...],
    faults_dir: tuple[Path, ...],
) -> int:
    stated = settings.read(Path.cwd())
    found = regression.read(path)
    request = running.Request(
        agent=agent or found.agent, adapter=adapter, scenarios_dir=scenarios_dir, faults_dir=faults_dir
    )
    setup = running.setup_of(request, stated)
    faults = catalog.faults([Path(d) for d in setup.faults_dirs])
    try:
        rules = tuple(
            notation.write(catalog.resolve(notation.parse(text), faults).rule) for text in found.rules
        )
    except Misuse as error:
        raise Misuse(f"{path}: {error}") from None
    options = campaign.Options(plan=",".join(rules), scenarios=found.scenario, seed=found.seed)
    id = trial_id(found.scenario, setup.agent or "reference", rules, found.seed, 0)
    trial, trace = run_one(setup, options, Order(id, found.scenario, rules, found.seed), path)
    _print(trial, trace)
    current = catalog.load(found.scenario, found.seed, [Path(d) for d in setup.scenarios_dirs]).hash
    changed = found.hash is not None and found.hash != current
    if changed:
        sys.stderr.write(
            f"forge-chaos: scenario {found.scenario!r} has changed since {path} was written "
            f"({found.hash} then, {current} now).\n"
        )
    fired = {f.rule for f in trial.facts.fired}
    stale = [text for text in rules if text not in fired]
    if stale:
        sys.stdout.write(
            f"STALE: {', '.join(stale)} did not fire{' (the scenario has changed)' if changed else ''}. "
            f"Find the plan's new place with:\n"
            f"forge-chaos run{f' --agent {setup.agent}' if setup.agent else ''} --scenarios {found.scenario} "
            f"--faults {','.join(dict.fromkeys(notation.parse(t).fault for t in stale))} --seed {found.seed}\n"
        )
        return 1
    return code_of(trial)


def run_one(setup: Setup, options: campaign.Options, order: Order, place: Path) -> tuple[Trial, Trace]:
    """One trial outside a run, judged as in one."""
    with running.seated(setup) as (executor, hello, home):
        made = campaign.Campaign(setup, options, executor, hello, home)
        scenario = home.scenario(order.scenario, order.seed)
        made.judge.clean(scenario)
        clean = replace(order, id=order.id + "-clean", rules=(), kind="clean")
        orders = [order] if scenario.solve is not None and made.own is None else [clean, order]
        for done, trace in executor.run(orders):
            trial = made.judged(done, trace, place)
            if done.id == order.id:
                return trial, trace
    raise Broken(f"the trial {order.id} did not come back")


def code_of(trial: Trial) -> int:
    """0 acceptable, 1 not, 2 when no rule fired or the pair is unfair, 3 when our own side broke."""
    outcome = trial.judgement.outcome
    if outcome == "invalid":
        return 3
    if trial.kind == "clean":
        return 0 if trial.judgement.acceptable else 1
    if not trial.judgement.scored:
        return 2
    return 0 if trial.judgement.acceptable else 1


def _print(trial: Trial, trace: Trace) -> None:
    word = "acceptable" if trial.judgement.acceptable else "NOT acceptable"
    bar = f" (bar: {trial.judgement.bar})" if trial.judgement.bar else ""
    plan = ", ".join(trial.rules) or "the empty plan"
    sys.stdout.write(f"{trial.scenario} under {plan}, seed {trial.seed}\n")
    sys.stdout.write(f"{trial.judgement.outcome}, {word}{bar}: {trial.judgement.why}\n")
    marks = sorted({*(f.event for f in trial.facts.fired[:3]), *trial.judgement.evidence})
    for text in story.lines(trace, marks[-EVIDENCE:]):
        sys.stdout.write(f"  {text}\n")
