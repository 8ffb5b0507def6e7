"""`forge-chaos run`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from forge_chaos import agents, campaign, settings
from forge_chaos.bench import OWN, SCRIPTED, WATCHDOG, Bench, Setup
from forge_chaos.errors import Inconclusive, unknown
from forge_chaos.ports import Executor
from forge_chaos.runs import compatible
from forge_chaos.store import Store

ASK = 200  # trials against a paid model above which we ask


@dataclass(frozen=True, slots=True)
class Request:
    """The options of `run`, as given; None where not."""

    agent: str | None = None
    adapter: str | None = None
    faults: str | None = None
    plan: str | None = None
    scenarios: str = "*"
    persona: str | None = None
    model: str | None = None
    trials: int = 1
    seed: int | None = None
    max_trials: int | None = None
    fail_under: float | None = None
    min_clean: float | None = None
    workspace: str | None = None
    scenarios_dir: tuple[Path, ...] = ()
    faults_dir: tuple[Path, ...] = ()
    keep_traces: str = "10000"
    out: Path | None = None
    resume: Path | None = None
    watchdog: float | None = None
    as_json: bool = False
    yes: bool = False


def run(request: Request) -> int:
    """Run a campaign, print its scorecard, return the exit code."""
    if request.resume is not None:
        return _resume(request)
    stated = settings.read(Path.cwd())
    setup = setup_of(request, stated)
    options = campaign.Options(
        faults=request.faults or stated.faults,
        plan=request.plan,
        scenarios=request.scenarios,
        trials=request.trials,
        seed=request.seed if request.seed is not None else stated.seed if stated.seed is not None else 1,
        max_trials=request.max_trials,
        fail_under=request.fail_under if request.fail_under is not None else stated.fail_under,
        min_clean=request.min_clean
        if request.min_clean is not None
        else stated.min_clean
        if stated.min_clean is not None
        else 0.8,
        keep_traces=request.keep_traces,
    )
    with seated(setup) as (executor, hello, home):
        made = campaign.Campaign(setup, options, executor, hello, home)
        config = made.config()
        directory = campaign.directory(request.out, Path("reports"), made.agent)
        with Store.create(directory, config) as store:
            return _finish(made, store, request)


def _resume(request: Request) -> int:
    assert request.resume is not None
    with Store.open(request.resume) as store:
        setup = Setup.from_json(store.config["setup"])
        options = campaign.Options.from_json(store.config["options"])
        with seated(setup) as (executor, hello, home):
            made = campaign.Campaign(setup, options, executor, hello, home)
            compatible(store.config, made.config(), str(request.resume))
            return _finish(made, store, request)


def setup_of(request: Request, stated: settings.Settings) -> Setup:
    """The setup that options and settings make together. Raises Misuse for a word that nobody knows."""
    if request.workspace not in (None, "memory", "disk"):
        raise unknown("workspace", str(request.workspace), ("memory", "disk"))
    model = request.model or stated.model or SCRIPTED
    if model not in (SCRIPTED, OWN):
        model = _real(model, stated.root)
    return Setup(
        agent=request.agent or stated.agent,
        adapter=request.adapter or (stated.adapter if not request.agent else None),
        persona=request.persona or "expert",
        model=model,
        workspace=request.workspace,
        scenarios_dirs=tuple(str(d) for d in (*stated.scenarios_dir, *request.scenarios_dir)),
        faults_dirs=tuple(str(d) for d in (*stated.faults_dir, *request.faults_dir)),
        watchdog=request.watchdog or WATCHDOG,
    )


def _real(model: str, root: Path) -> str:
    """A real model needs a key; without one the scripted model steps in, and we say so."""
    from forge_chaos.modelserver.endpoint import keyed

    environment = settings.environment(root)
    if keyed(model, environment):
        os.environ.update(environment)
        return model
    sys.stderr.write(
        f"forge-chaos: no key for {model!r} in the environment or .env; the scripted model plays instead.\n"
    )
    return SCRIPTED


@contextmanager
def seated(setup: Setup) -> Iterator[tuple[Executor, dict[str, Any], Bench]]:
    """An executor with the agent in its seat. The reference agent runs in this process, every other
    agent in a child that can be killed."""
    home = Bench(replace(setup, agent=None, adapter=None))
    try:
        if setup.agent is None or setup.agent == agents.REFERENCE:
            from forge_chaos.executors.inline import inline

            yield inline(home), home.hello(), home
        else:
            from forge_chaos.executors.child import child

            executor = child(setup.to_json(), watchdog=setup.watchdog)
            try:
                yield executor, executor.hello(), home
            finally:
                executor.close()
    finally:
        home.close()


def _finish(made: campaign.Campaign, store: Store, request: Request) -> int:
    try:
        with _progress(request.as_json) as progress:
            done = made.run(store, progress)
    except Inconclusive as error:
        sys.stderr.write(f"forge-chaos: {error}\n")
        return error.exit
    except KeyboardInterrupt:
        store.commit()
        sys.stderr.write(f"\nforge-chaos: stopped. Go on with: forge-chaos run --resume {store.directory}\n")
        return 2
    show(done.scorecard, done.trials, request.as_json)
    return done.scorecard.exit


def show(card: Any, trials: Any, as_json: bool) -> None:
    """The result on stdout: JSON for machines, colour for a terminal, plain otherwise."""
    if as_json:
        from forge_chaos.renderers.json import json

        sys.stdout.write(json(card, trials).rstrip("\n") + "\n")
        return
    from forge_chaos.renderers import terminal

    if sys.stdout.isatty():
        from rich.console import Console

        terminal.show(card, trials, Console())
    else:
        sys.stdout.write(terminal.terminal(card, trials).rstrip("\n") + "\n")


@contextmanager
def _progress(quiet: bool) -> Iterator[campaign.Progress]:
    if quiet or not sys.stderr.isatty():
        yield campaign.silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def progress(done: int, total: int, what: str) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(f"{what} trials", total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield progress
