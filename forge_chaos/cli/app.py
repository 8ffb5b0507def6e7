"""The commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from forge_chaos.errors import Misuse

app = typer.Typer(
    name="forge-chaos",
    help="Fault-injection robustness tester for LLM agents.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def invoke(argv: list[str]) -> int:
    """Run one command. Raises ChaosError; a usage error of the command line is Misuse."""
    import click

    command = typer.main.get_command(app)
    try:
        result = command.main(args=argv, prog_name="forge-chaos", standalone_mode=False)
    except click.UsageError as error:
        usage = f"\n{error.ctx.get_usage()}" if error.ctx is not None else ""
        raise Misuse(f"{error.format_message()}{usage}") from None
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    return result if isinstance(result, int) else 0


def _version(wanted: bool) -> None:
    if wanted:
        from forge_chaos import __version__

        typer.echo(f"forge-chaos {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Fault-injection robustness tester for LLM agents."""


Agent = Annotated[
    Optional[str],  # noqa: UP045  # typer on Python 3.11 reads it so
    typer.Option(help="module:attribute, path.py:attribute or framework:NAME. Nothing: the reference agent."),
]
AdapterName = Annotated[Optional[str], typer.Option(help="Force an adapter (forge-chaos list adapters).")]  # noqa: UP045
Dirs = Annotated[Optional[list[Path]], typer.Option(help="A folder of your own; may be given again.")]  # noqa: UP045
Text = Optional[str]  # noqa: UP045
Number = Optional[int]  # noqa: UP045
Share = Optional[float]  # noqa: UP045
File = Optional[Path]  # noqa: UP045


@app.command()
def run(
    agent: Agent = None,
    faults: Annotated[
        Text,
        typer.Option(
            help="Comma list. A class is swept over every call; an item with @ or % is that one rule. "
            "'all': every class that applies. Nothing: the five named classes."
        ),
    ] = None,
    plan: Annotated[Text, typer.Option(help="Comma list of rules that hold together in one plan.")] = None,
    scenarios: Annotated[str, typer.Option(help="Comma list of globs.")] = "*",
    adapter: AdapterName = None,
    persona: Annotated[
        Text, typer.Option(help="How the scripted model reacts to trouble. [default: expert]")
    ] = None,
    model: Annotated[
        Text, typer.Option(help="scripted, own (the agent brings its own), or a real one: openai:NAME.")
    ] = None,
    trials: Annotated[
        int, typer.Option(min=1, help="Trials a cell, for agents that are not deterministic.")
    ] = 1,
    seed: Annotated[
        Number, typer.Option(min=0, help="Values and dice are drawn from it. [default: 1]")
    ] = None,
    max_trials: Annotated[
        Number, typer.Option(min=1, help="Sample the sweep, stratified, from the seed.")
    ] = None,
    fail_under: Annotated[Share, typer.Option(min=0, max=1, help="The gate on robustness.")] = None,
    min_clean: Annotated[
        Share, typer.Option(min=0, max=1, help="Clean rate below which a scenario is not scored.")
    ] = None,
    workspace: Annotated[Text, typer.Option(help="memory or disk; else what the scenario says.")] = None,
    scenarios_dir: Dirs = None,
    faults_dir: Dirs = None,
    keep_traces: Annotated[str, typer.Option(help="all, failures, or how many passing ones.")] = "10000",
    out: Annotated[File, typer.Option(help="The run's directory. [default: reports/NNNN-AGENT]")] = None,
    resume: Annotated[File, typer.Option(help="Go on with the run in this directory.")] = None,
    watchdog: Annotated[
        Share,
        typer.Option(min=0.1, help="Real seconds without an event until a child process counts as hung."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object on stdout, nothing else there.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask before a long run against a paid model.")
    ] = False,
) -> int:
    """Inject faults into clean tasks and say how the agent ended, per fault class."""
    from forge_chaos.cli import running

    return running.run(
        running.Request(
            agent=agent,
            adapter=adapter,
            faults=faults,
            plan=plan,
            scenarios=scenarios,
            persona=persona,
            model=model,
            trials=trials,
            seed=seed,
            max_trials=max_trials,
            fail_under=fail_under,
            min_clean=min_clean,
            workspace=workspace,
            scenarios_dir=tuple(scenarios_dir or ()),
            faults_dir=tuple(faults_dir or ()),
            keep_traces=keep_traces,
            out=out,
            resume=resume,
            watchdog=watchdog,
            as_json=as_json,
            yes=yes,
        )
    )


@app.command()
def replay(
    what: Annotated[
        str, typer.Argument(metavar="FILE.chaos.toml | RUN_DIR:TRIAL", help="What to run again.")
    ],
    agent: Agent = None,
    adapter: AdapterName = None,
    scenarios_dir: Dirs = None,
    faults_dir: Dirs = None,
) -> int:
    """Run a regression file or a stored trial again; say how it ended and where it differs."""
    from forge_chaos.cli import replaying

    return replaying.replay(what, agent, adapter, tuple(scenarios_dir or ()), tuple(faults_dir or ()))


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="A run's directory.")],
    as_: Annotated[str, typer.Option("--as", help="terminal, json, markdown or junit.")] = "terminal",
    output: Annotated[File, typer.Option("-o", "--output", help="Write it there instead of stdout.")] = None,
) -> int:
    """Show a finished run again, in another form."""
    from forge_chaos.cli import reporting

    return reporting.report(run, as_, output)


@app.command(name="list")
def list_(
    what: Annotated[
        str,
        typer.Argument(
            help="faults, scenarios, adapters, personas, graders, mechanisms, worlds, renderers, executors."
        ),
    ] = "",
    scenarios_dir: Dirs = None,
    faults_dir: Dirs = None,
) -> int:
    """What there is to choose from."""
    from forge_chaos.cli import showing

    return showing.listing(what, tuple(scenarios_dir or ()), tuple(faults_dir or ()))


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A fault, a scenario, or RUN_DIR:TRIAL.")],
    scenarios_dir: Dirs = None,
    faults_dir: Dirs = None,
) -> int:
    """Explain a fault or a scenario; print the trace of a stored trial."""
    from forge_chaos.cli import showing

    return showing.show(name, tuple(scenarios_dir or ()), tuple(faults_dir or ()))


@app.command()
def inspect(
    agent: Annotated[str, typer.Argument(help="module:attribute, path.py:attribute or framework:NAME.")],
    adapter: AdapterName = None,
) -> int:
    """Say what an agent is taken for: its adapter, its tools, their roles and targets."""
    from forge_chaos.cli import showing

    return showing.inspect(agent, adapter)
