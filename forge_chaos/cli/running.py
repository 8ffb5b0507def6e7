"""`forge-chaos run`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from forge_chaos import agents, campaign, registry, seeds, settings
from forge_chaos.bench import OWN, SCRIPTED, WATCHDOG, Bench, Setup
from forge_chaos.cli import unheard
from forge_chaos.cli.paying import Consent, consent
from forge_chaos.cli.stopping import stoppable
from forge_chaos.errors import Broken, ChaosError, Inconclusive, Misuse, unknown
from forge_chaos.keep import keep_traces
from forge_chaos.ports import Executor
from forge_chaos.runfile import FILE
from forge_chaos.runs import compatible, next_directory
from forge_chaos.store import Store
from forge_chaos.verdict import Scorecard, Trial

T = TypeVar("T")
WORKSPACES = ("memory", "disk", "fake")
COMMAND_WATCHDOG = 90.0


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
    tasks: tuple[str, ...] = ()
    scenarios_dir: tuple[Path, ...] = ()
    faults_dir: tuple[Path, ...] = ()
    keep_traces: str = "10000"
    out: Path | None = None
    resume: Path | None = None
    watchdog: float | None = None
    as_json: bool = False
    yes: bool = False
    targets: Path | None = None
    attribute: bool = False
    shims: bool = False
    window: int | None = None


def run(request: Request) -> int:
    """Run a campaign, print its scorecard, return the exit code."""
    if request.targets is not None and request.resume is None:
        from forge_chaos.cli import targeting

        return targeting.run(request, request.targets)
    try:
        # What a user's solution or grader prints must not get between the lines of a result.
        with redirect_stdout(sys.stderr):
            done = _resumed(request) if request.resume is not None else begun(request)
    except Misuse:
        raise
    except Exception as error:
        if request.as_json:
            show(_without_result(request, error), (), True)
        raise
    if done is None:
        return Inconclusive.exit
    show(done.scorecard, done.trials, request.as_json)
    return done.scorecard.exit


def begun(request: Request) -> campaign.Run | None:
    """A new run. Its directory is made when there is nothing left to refuse."""
    stated = settings.read(Path.cwd())
    setup, options = setup_of(request, stated), options_of(request, stated)
    keep_traces(options.keep_traces)
    with seated(setup) as (executor, hello, home):
        made = campaign.Campaign(setup, options, executor, hello, home)
        made.check()
        for note in home.imported.notes:
            _say(note)
        if options.trials > 1 and made.deterministic:
            _say("--trials has no use here: equal plans give equal traces, so every cell is tried once.")
        agree = consent(setup.model, request.yes, os.environ)
        if agree is not None:
            agree(made.expected())
        store = _new(request.out, made)
        try:
            with store:
                return _finish(made, store, request, agree)
        except Misuse:
            _undo(store.directory)
            raise


def _resumed(request: Request) -> campaign.Run | None:
    assert request.resume is not None
    given = [
        f"--{field.name.replace('_', '-')}"
        for field in fields(request)
        if field.name not in ("resume", "as_json", "yes", "attribute")
        and getattr(request, field.name) != getattr(Request(), field.name)
    ]
    if given:
        raise Misuse(
            f"--resume goes on with a run as it was started, so {', '.join(given)} cannot be said again. "
            f"Leave that out, or start a new run."
        )
    with Store.open(request.resume) as store:
        setup = Setup.from_json(store.config["setup"])
        options = campaign.Options.from_json(store.config["options"])
        with seated(setup) as (executor, hello, home):
            made = campaign.Campaign(setup, options, executor, hello, home)
            compatible(store.config, made.config(), str(request.resume))
            return _finish(made, store, request, consent(setup.model, request.yes, os.environ))


def _finish(
    made: campaign.Campaign, store: Store, request: Request, agree: Consent | None
) -> campaign.Run | None:
    """The finished run; None when the user stopped it."""
    try:
        with progress_bar(request.as_json) as progress, stoppable(progress) as watched:
            done = made.run(store, watched, agree or campaign.free)
            if not request.attribute:
                return done
            from forge_chaos.cli.attributing import attributed

            return attributed(done, made, store, agree or campaign.free, watched)
    except KeyboardInterrupt:
        store.commit()
        if sys.stderr.isatty():
            sys.stderr.write("\n")  # behind the ^C
        _say(f"stopped. Go on with: {shlex.join(['forge-chaos', 'run', '--resume', str(store.directory)])}")
        if not request.as_json:
            return None
        trials = tuple(store.trials())
        return campaign.Run(store.directory, made.so_far(store.directory, trials), trials)


def _new(out: Path | None, made: campaign.Campaign) -> Store:
    """A new run in `out`, else in the next free directory under reports/."""
    config = made.config()
    if out is not None:
        return Store.create(out, config)
    directory = next_directory(Path("reports"), label(made.agent))
    try:
        return Store.create(directory, config)
    except BaseException:
        with suppress(OSError):
            directory.rmdir()
        raise


def label(agent: str) -> str:
    """What a run's directory is called after its number: `shop/agent.py:agent` is agent-agent."""
    where, _, attribute = agent.rpartition(":")
    return f"{Path(where).stem}-{attribute}" if where.endswith(".py") else agent


def _undo(directory: Path) -> None:
    """Take away a run that could not be begun, and nothing else that lies there."""
    with suppress(OSError):
        for file in directory.glob(f"{FILE}*"):
            file.unlink()
        directory.rmdir()


def _without_result(request: Request, error: Exception) -> Scorecard:
    """What --json shows when our own side failed, or the user would not have it: no number."""
    return Scorecard(
        run=str(request.resume or request.out or ""),
        agent=request.agent or agents.REFERENCE,
        model=request.model or SCRIPTED,
        persona=request.persona,
        seed=1 if request.seed is None else request.seed,
        clean_passed=0,
        clean_of=0,
        rows=(),
        overall=None,
        trials=0,
        not_reached=0,
        exit=error.exit if isinstance(error, ChaosError) else Broken.exit,
        reasons=(str(error),),
    )


def _say(text: str) -> None:
    sys.stderr.write(f"forge-chaos: {text}\n")


def options_of(request: Request, stated: settings.Settings) -> campaign.Options:
    """What is asked for: the command line comes before the settings."""

    def first(given: T | None, said: T | None, otherwise: T) -> T:
        return given if given is not None else said if said is not None else otherwise

    return campaign.Options(
        # A plan alone asks for nothing beside it.
        faults=request.faults if request.faults is not None or request.plan is not None else stated.faults,
        plan=request.plan,
        scenarios=request.scenarios,
        trials=request.trials,
        seed=first(request.seed, stated.seed, 1),
        max_trials=request.max_trials,
        fail_under=request.fail_under if request.fail_under is not None else stated.fail_under,
        min_clean=first(request.min_clean, stated.min_clean, campaign.MIN_CLEAN),
        keep_traces=request.keep_traces,
    )


def setup_of(request: Request, stated: settings.Settings) -> Setup:
    """The setup that options and settings make together. Raises Misuse for a word that nobody knows."""
    if request.workspace not in (None, *WORKSPACES):
        raise unknown("workspace", str(request.workspace), WORKSPACES)
    agent = request.agent or stated.agent
    if agents.command(agent) and request.workspace not in (None, "disk"):
        raise Misuse(f"--workspace {request.workspace}: a command works in a folder on disk. Leave it out.")
    if request.shims and not agents.command(agent) and request.targets is None:
        raise Misuse(
            "--shims: it is for agents that are commands (--agent 'cmd: ...', --targets): the calls of any other pass "
            "the gate by themselves. Leave it out."
        )
    model = request.model or stated.model or SCRIPTED
    if model == OWN and (agent is None or agents.stock(agent)):
        raise Misuse(
            "--model own: this agent has no model of its own. Name an agent that has one with --agent."
        )
    if model not in (SCRIPTED, OWN):
        model = _real(model, stated.root, named=bool(request.model))
    windowed(request.window, model)
    home = Path.cwd() if request.agent else stated.root
    return Setup(
        agent=agent,
        home=str(home) if agent is not None else None,
        adapter=request.adapter or (stated.adapter if not request.agent else None),
        persona=request.persona or "expert",
        model=model,
        workspace=request.workspace,
        scenarios_dirs=tuple(str(d.absolute()) for d in (*stated.scenarios_dir, *request.scenarios_dir)),
        faults_dirs=tuple(str(d.absolute()) for d in (*stated.faults_dir, *request.faults_dir)),
        claim=stated.claim,
        shims=request.shims,
        watchdog=request.watchdog or _patience(model, agent),
        tasks=tuple(map(seeds.absolute, request.tasks)),
        window=request.window,
    )


def windowed(window: int | None, model: str) -> None:
    """Raises Misuse for a context window of a model that is not ours."""
    if window is not None and model != SCRIPTED:
        raise Misuse(
            f"--window is the context window of the scripted model, and --model {model} has one of its own. Leave one "
            "of them out."
        )


def _real(model: str, root: Path, named: bool) -> str:
    """A real model needs a key. Without one the scripted model steps in for a model of the environment or the
    settings, and we say so; in the place of one that is `named` on the command line it would make green what
    was never tried."""
    from forge_chaos.modelserver.endpoint import keyed, keyless

    environment = settings.environment(root)
    if keyed(model, environment):
        return model
    if named:
        raise Misuse(f"{keyless(model, environment)} Without --model the scripted model plays.")
    sys.stderr.write(
        f"forge-chaos: no key for {model!r} in the environment or .env; the scripted model plays instead.\n"
    )
    return SCRIPTED


def _patience(model: str, agent: str | None) -> float:
    """Real seconds without an event that are no hang yet. A real model may think for minutes; the time of a
    command is real, and what the clients that it uses wait for a tool is a minute by default."""
    if model in (SCRIPTED, OWN):
        return COMMAND_WATCHDOG if agents.command(agent) else WATCHDOG
    from forge_chaos.modelserver import endpoint

    return endpoint.WATCHDOG


@contextmanager
def seated(setup: Setup) -> Iterator[tuple[Executor, dict[str, Any], Bench]]:
    """An executor with the agent in its seat. The reference agent runs in this process, every other
    agent in a child that can be killed."""
    if setup.model not in (SCRIPTED, OWN):
        # Here and not where the model is chosen: a replay or a resumed run needs the key as well.
        os.environ.update(settings.environment(settings.read(Path.cwd()).root))
    ours = setup.agent is None or setup.agent == agents.REFERENCE
    home = Bench(setup if ours else replace(setup, agent=None, adapter=None))
    try:
        if ours:
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


def show(card: Scorecard, trials: Sequence[Trial], as_json: bool) -> None:
    """The result on stdout: JSON for machines, colour for a terminal, plain otherwise."""
    try:
        if not as_json and sys.stdout.isatty():
            from rich.console import Console

            from forge_chaos.renderers import terminal

            terminal.show(card, trials, Console())
        else:
            render = registry.leaf("renderers", "json" if as_json else "terminal")
            sys.stdout.write(render(card, trials).rstrip("\n") + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        unheard()  # the exit code still says how the run ended


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[campaign.Progress]:
    """A bar on stderr for long work; nothing where that is no terminal."""
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
