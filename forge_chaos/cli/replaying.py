"""`forge-chaos replay`: a regression file or a stored trial, once more."""

from __future__ import annotations

import shlex
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

from forge_chaos import campaign, catalog, notation, regression, settings, story
from forge_chaos.bench import SCRIPTED, Setup
from forge_chaos.cli import running
from forge_chaos.errors import Broken, Misuse
from forge_chaos.events import Called, Started, Trace, find
from forge_chaos.nouns import Rule
from forge_chaos.order import Order, trial_id
from forge_chaos.schedule import matches
from forge_chaos.store import Store
from forge_chaos.verdict import Trial

EVIDENCE = 6  # lines of the trace that are shown


def replay(
    what: str,
    agent: str | None,
    adapter: str | None,
    scenarios_dir: tuple[Path, ...],
    faults_dir: tuple[Path, ...],
    window: int | None = None,
) -> int:
    """Run it again, print the outcome with its evidence, return the exit code as the outcome is."""
    request = running.Request(
        agent=agent, adapter=adapter, scenarios_dir=scenarios_dir, faults_dir=faults_dir, window=window
    )
    if what.endswith(".toml"):
        return _regression(Path(what), request)
    directory, colon, id = what.rpartition(":")
    if not colon or not directory or not id:
        raise Misuse(f"cannot read {what!r}. Name a regression file (*.chaos.toml) or RUN_DIR:TRIAL.")
    return _stored(Path(directory), id, request)


def _stored(directory: Path, id: str, request: running.Request) -> int:
    with Store.open(directory) as store:
        setup = _anew(Setup.from_json(store.config["setup"]), request)
        options = campaign.Options.from_json(store.config["options"])
        hashes = store.config["scenarios"]
        old = store.trial(id)
        try:
            before: Trace | None = store.trace(id)
        except Misuse:
            before = None
    order = Order(old.id, old.scenario, old.rules, old.seed, old.repetition, old.kind)
    # The faults that the run was asked for are of no use here, and one of them may be gone by now.
    asked = replace(options, scenarios=old.scenario, faults=None, plan=",".join(old.rules) or None)
    trial, trace, timed = run_one(setup, asked, order, directory)
    _changed(old.scenario, hashes.get(old.scenario), trace, f"the run in {directory}")
    _print(trial, trace)
    different = story.difference(before, trace, timed) if before is not None else None
    if before is None:
        sys.stdout.write("The stored trace was not kept, so nothing is compared.\n")
    elif different is None:
        apart = "" if timed else ", but for the times, which are real"
        sys.stdout.write(f"The trace is equal to the stored one{apart}.\n")
    else:
        was, now = different
        sys.stdout.write(
            "The trace differs from the stored one, first here:\n"
            f"  stored  {story.line(was) if was else 'nothing more'}\n"
            f"  now     {story.line(now) if now else 'nothing more'}\n"
        )
    return code_of(trial)


def _anew(setup: Setup, request: running.Request) -> Setup:
    """The setup of the run, with what the command line says now."""
    running.windowed(request.window, setup.model)
    if request.agent is not None:
        setup = replace(setup, agent=request.agent, adapter=None, home=str(Path.cwd()))
    return replace(
        setup,
        window=request.window or setup.window,
        adapter=request.adapter or setup.adapter,
        scenarios_dirs=(*setup.scenarios_dirs, *(str(d.absolute()) for d in request.scenarios_dir)),
        faults_dirs=(*setup.faults_dirs, *(str(d.absolute()) for d in request.faults_dir)),
    )


def _regression(path: Path, request: running.Request) -> int:
    found = regression.read(path)
    setup = setup_of(found, request)
    faults = catalog.faults([Path(d) for d in setup.faults_dirs])
    try:
        rules = tuple(catalog.resolve(notation.parse(text), faults).rule for text in found.rules)
        catalog.load(found.scenario, found.seed, [Path(d) for d in setup.scenarios_dirs])
    except Misuse as error:
        raise Misuse(f"{path}: {error}") from None
    texts = tuple(notation.write(rule) for rule in rules)
    options = campaign.Options(plan=",".join(texts), scenarios=found.scenario, seed=found.seed)
    id = trial_id(found.scenario, setup.agent or "", texts, found.seed, 0)
    trial, trace, _ = run_one(setup, options, Order(id, found.scenario, texts, found.seed), path)
    changed = _changed(found.scenario, found.hash, trace, str(path))
    fired = {hit.rule for hit in trial.facts.fired}
    stale = [rule for rule, text in zip(rules, texts, strict=True) if text not in fired]
    if stale:
        why = "; the scenario has changed since" if changed else ""
        told = ", ".join(map(notation.write, stale))
        sys.stdout.write(f"STALE: {told} did not fire in {found.scenario}, seed {found.seed}{why}.\n")
    else:
        _print(trial, trace)
    if setup.agent is None:
        sys.stdout.write(
            "It was played by the agent that comes with forge-chaos, and tested nothing of yours: name one with "
            "--agent.\n"
        )
    if not stale:
        return code_of(trial)
    sys.stdout.write(f"This shows where it would:\n{_search(stale, found, setup, trace)}\n")
    return 1


def setup_of(found: regression.Regression, request: running.Request) -> Setup:
    """The setup that the file states and the command line may overrule; what lies beside the file is found."""
    here = Path.cwd()
    asked = replace(
        request,
        agent=request.agent or found.agent,
        model=found.model or request.model,
        window=request.window or found.window,
    )
    setup = running.setup_of(asked, settings.read(here))
    if request.agent is None and found.agent is not None:
        setup = replace(setup, home=str(found.home(here)))
    return replace(setup, scenarios_dirs=(*setup.scenarios_dirs, *found.scenarios_dirs()))


def _search(stale: list[Rule], found: regression.Regression, setup: Setup, trace: Trace) -> str:
    """The sweep in which rules that no longer fire get their new places: of their class, on their tool where
    that is still called."""
    tools = [called.tool for _, called in find(trace, Called)]
    faults = [
        Rule(
            rule.fault,
            rule.variant,
            tool=rule.tool if any(matches(Rule("", tool=rule.tool), t, None) for t in tools) else "*",
        )
        for rule in stale
    ]
    items = ",".join(dict.fromkeys(map(notation.write, faults)))
    command = ["forge-chaos", "run", "--scenarios", found.scenario, "--faults", items]
    command += ["--seed", str(found.seed)]
    model = setup.model if setup.model != SCRIPTED else None
    window = str(setup.window) if setup.window is not None else None
    for option, value in (
        ("--agent", setup.agent),
        ("--adapter", setup.adapter),
        ("--model", model),
        ("--window", window),
    ):
        command += [option, value] if value is not None else []
    for option, places in (("--scenarios-dir", setup.scenarios_dirs), ("--faults-dir", setup.faults_dirs)):
        for place in places:
            command += [option, place]
    line = shlex.join(command)
    elsewhere = found.agent is not None and setup.home not in (None, str(Path.cwd()))
    return f"cd {shlex.quote(str(setup.home))} && {line}" if elsewhere else line


def _changed(scenario: str, then: str | None, trace: Trace, where: str) -> bool:
    """Is the scenario another than it was? Then a warning is given."""
    started = trace[0].body
    now = started.hash if isinstance(started, Started) else ""
    if then is None or not now or then == now:
        return False
    sys.stderr.write(
        f"forge-chaos: scenario {scenario!r} has changed since {where} was written ({then} then, {now} now).\n"
    )
    return True


def run_one(setup: Setup, options: campaign.Options, order: Order, place: Path) -> tuple[Trial, Trace, bool]:
    """One trial outside a run, judged as in one; and whether the times of its trace would come again."""
    with redirect_stdout(sys.stderr), running.seated(setup) as (executor, hello, home):
        made = campaign.Campaign(setup, options, executor, hello, home)
        if not made.scenarios:
            raise Misuse(f"scenario {made.skipped[0].scenario!r} cannot be replayed: {made.skipped[0].why}.")
        learnt = made.own is None and made.scenarios[0].solve is not None
        clean = replace(order, id=f"{order.id}-clean", rules=(), kind="clean")
        for done, trace in executor.run([order] if learnt else [clean, order]):
            trial = made.judged(done, trace, place)
            if done.id == order.id:
                return trial, trace, made.timed
    raise Broken(f"the trial {order.id} did not come back")


def code_of(trial: Trial) -> int:
    """0 acceptable, 1 not, 2 when no rule fired or the pair is unfair, 3 when our own side broke."""
    if trial.judgement.outcome == "invalid":
        return 3
    if trial.kind != "clean" and not trial.judgement.scored:
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
