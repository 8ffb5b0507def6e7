"""The commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from forge_chaos.errors import Broken, Misuse

# What is wrong with a command line. Typer brings its own click or uses the installed one, by its version.
USAGE: Any = typer.BadParameter.__bases__

app = typer.Typer(
    name="forge-chaos",
    help="Fault-injection robustness tester for LLM agents.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def invoke(argv: list[str]) -> int:
    """Run one command. Raises ChaosError; a usage error of the command line is Misuse."""
    command = typer.main.get_command(app)
    try:
        result = command.main(args=argv or ["--help"], prog_name="forge-chaos", standalone_mode=False)
    except USAGE as error:
        context = getattr(error, "ctx", None)
        usage = f"\n{context.get_usage()}" if context is not None else ""
        raise Misuse(f"{error.format_message()}{usage}") from None
    except typer.Exit as leave:
        return leave.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    except SystemExit as error:
        cause = error.__context__
        if isinstance(cause, OSError):
            raise BrokenPipeError from None  # the one reason for which click leaves by itself
        raise Broken(
            f"code of a scenario, a grader or a fault left the process (exit {error.code}); no verdict is given."
        ) from None
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


Text = Optional[str]  # noqa: UP045  # typer on Python 3.11 reads it so
Number = Optional[int]  # noqa: UP045
Share = Optional[float]  # noqa: UP045
File = Optional[Path]  # noqa: UP045
SPEC = "module:attribute, path.py:attribute, framework:NAME or 'cmd: ./agent --flag'"
Agent = Annotated[
    Text, typer.Option(metavar="SPEC", help=f"{SPEC}. Nothing: the agent that comes with forge-chaos.")
]
AdapterName = Annotated[
    Text, typer.Option(metavar="NAME", help="Take the agent as this adapter does, whatever its type.")
]
Window = Annotated[
    Number,
    typer.Option(
        metavar="TOKENS",
        min=1,
        help="The scripted model's context window, four characters a token: it refuses a larger request.",
    ),
]
ScenariosDir = Annotated[
    Optional[list[Path]],  # noqa: UP045
    typer.Option(metavar="DIR", help="Scenarios of your own, beside ours. May be given again."),
]
FaultsDir = Annotated[
    Optional[list[Path]],  # noqa: UP045
    typer.Option(metavar="DIR", help="Faults of your own, beside ours. May be given again."),
]


@app.command()
def run(
    agent: Agent = None,
    faults: Annotated[
        Text,
        typer.Option(
            metavar="LIST",
            help="A class (timeout, timeout.hangs, timeout:read_*) is tried on every call; an item with @ or "
            "% is that one rule (timeout@2:read_file). all: every class that applies. Nothing: missing_file, "
            "timeout, malformed_output, blocked_command, truncated_context.",
        ),
    ] = None,
    plan: Annotated[Text, typer.Option(metavar="LIST", help="Rules that hold together, in one plan.")] = None,
    scenarios: Annotated[
        str, typer.Option(metavar="GLOBS", help="Which scenarios, such as sum_*,edit_port.")
    ] = "*",
    adapter: AdapterName = None,
    persona: Annotated[
        Text,
        typer.Option(metavar="NAME", help="How the scripted model reacts to trouble.  [default: expert]"),
    ] = None,
    model: Annotated[
        Text,
        typer.Option(
            metavar="SPEC",
            help="scripted: plays the scenario's solution. own: the agent brings its own. openai:NAME, "
            "anthropic:NAME: a real one.  [default: scripted]",
        ),
    ] = None,
    trials: Annotated[
        int, typer.Option(metavar="N", min=1, help="Trials of a cell, for agents that are not deterministic.")
    ] = 1,
    seed: Annotated[
        Number, typer.Option(metavar="S", min=0, help="Values and dice are drawn from it.  [default: 1]")
    ] = None,
    max_trials: Annotated[
        Number, typer.Option(metavar="N", min=1, help="Try a sample of the sweep, drawn from the seed.")
    ] = None,
    fail_under: Annotated[
        Share,
        typer.Option(
            metavar="X",
            min=0,
            max=1,
            help="Fail when robustness lies below, for agents that are not deterministic. Others fail by any "
            "bad end.",
        ),
    ] = None,
    min_clean: Annotated[
        Share,
        typer.Option(
            metavar="X",
            min=0,
            max=1,
            help="A scenario is scored when so many of its trials without a fault pass.  [default: 0.8]",
        ),
    ] = None,
    workspace: Annotated[
        Text, typer.Option(metavar="KIND", help="memory, disk or fake.  [default: as the scenario says]")
    ] = None,
    window: Window = None,
    tasks: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            metavar="FILE",
            help="Tasks instead of scenarios: a tasks.json, a tasks.jsonl, or module:attribute for those that are "
            "written in Python. May be given again.",
        ),
    ] = None,
    targets: Annotated[
        File,
        typer.Option(
            metavar="FILE",
            help="Agents instead of one: a targets.json of commands. A table of task and target stands at the end.",
        ),
    ] = None,
    scenarios_dir: ScenariosDir = None,
    faults_dir: FaultsDir = None,
    keep_traces: Annotated[
        str,
        typer.Option(
            metavar="N", help="Traces of acceptable trials to keep: a number, all, or failures (0)."
        ),
    ] = "10000",
    out: Annotated[
        File, typer.Option(metavar="DIR", help="Where the run is written.  [default: reports/NNNN-AGENT]")
    ] = None,
    resume: Annotated[File, typer.Option(metavar="RUN", help="Go on with the run in this directory.")] = None,
    watchdog: Annotated[
        Share,
        typer.Option(
            metavar="SECONDS",
            min=0.1,
            help="An agent whose process shows no sign of life for so long hangs.  [default: 10; a command: 90]",
        ),
    ] = None,
    shims: Annotated[
        bool,
        typer.Option(
            "--shims",
            help="For commands: programs that they start from PATH pass the gate too, as calls of run_command, or of "
            "read_file where they read a file.",
        ),
    ] = False,
    attribute: Annotated[
        bool,
        typer.Option(
            "--attribute",
            help="Say of each failure whose it is, by two more trials: with the expert as the model, and in the "
            "reference loop. They are not scored.",
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object on stdout, nothing else there.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask before many trials with a paid model.")
    ] = False,
) -> int:
    """Try an agent under faults.

    Each scenario is solved without faults first. Then each fault is tried on each call of it, once and for
    ever, and the ends are counted. Exit: 0 pass, 1 fail, 2 inconclusive, 3 forge-chaos failed, 4 misuse.
    """
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
            window=window,
            tasks=tuple(tasks or ()),
            targets=targets,
            scenarios_dir=tuple(scenarios_dir or ()),
            faults_dir=tuple(faults_dir or ()),
            keep_traces=keep_traces,
            out=out,
            resume=resume,
            watchdog=watchdog,
            attribute=attribute,
            shims=shims,
            as_json=as_json,
            yes=yes,
        )
    )


@app.command()
def fuzz(
    agent: Agent = None,
    faults: Annotated[
        Text,
        typer.Option(metavar="LIST", help="What plans are made of, as for run.  [default: as for run]"),
    ] = None,
    scenarios: Annotated[
        str, typer.Option(metavar="GLOBS", help="Which scenarios, such as sum_*,edit_port.")
    ] = "*",
    budget: Annotated[
        int, typer.Option(metavar="N", min=1, help="Trials to spend, every run of the agent counted.")
    ] = 300,
    max_rules: Annotated[int, typer.Option(metavar="N", min=1, help="Rules of a plan at most.")] = 4,
    target: Annotated[
        Text, typer.Option(metavar="OUTCOME", help="Look for this end alone, such as damaged.")
    ] = None,
    first: Annotated[bool, typer.Option("--first", help="Stop at the first failure.")] = False,
    save: Annotated[
        File, typer.Option(metavar="DIR", help="Write a regression file for each failure here.")
    ] = None,
    adapter: AdapterName = None,
    persona: Annotated[
        Text,
        typer.Option(metavar="NAME", help="How the scripted model reacts to trouble.  [default: expert]"),
    ] = None,
    model: Annotated[Text, typer.Option(metavar="SPEC", help="As for run.  [default: scripted]")] = None,
    seed: Annotated[
        Number, typer.Option(metavar="S", min=0, help="Equal seeds find equal plans.  [default: 1]")
    ] = None,
    workspace: Annotated[
        Text, typer.Option(metavar="KIND", help="memory or disk.  [default: as the scenario says]")
    ] = None,
    window: Window = None,
    tasks: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(metavar="FILE", help="Tasks instead of scenarios, as for run. May be given again."),
    ] = None,
    scenarios_dir: ScenariosDir = None,
    faults_dir: FaultsDir = None,
    out: Annotated[
        File, typer.Option(metavar="DIR", help="Where it is written.  [default: reports/NNNN-fuzz-AGENT]")
    ] = None,
    watchdog: Annotated[
        Share,
        typer.Option(metavar="SECONDS", min=0.1, help="As for run.  [default: 10]"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object on stdout, nothing else there.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask before many trials with a paid model.")
    ] = False,
) -> int:
    """Search plans that break an agent, as small as they get.

    Exit: 1 a plan was found, 0 none was, 2 nothing that was asked for could fire, 3 forge-chaos failed, 4 misuse.
    """
    from forge_chaos.cli import fuzzing, running

    request = running.Request(
        agent=agent,
        adapter=adapter,
        faults=faults,
        scenarios=scenarios,
        persona=persona,
        model=model,
        seed=seed,
        workspace=workspace,
        window=window,
        tasks=tuple(tasks or ()),
        scenarios_dir=tuple(scenarios_dir or ()),
        faults_dir=tuple(faults_dir or ()),
        out=out,
        watchdog=watchdog,
        as_json=as_json,
        yes=yes,
    )
    return fuzzing.fuzz(request, fuzzing.Search(budget, max_rules, target, first, save))


@app.command()
def replay(
    what: Annotated[
        str, typer.Argument(metavar="FILE.chaos.toml | RUN_DIR:TRIAL", help="What to run again.")
    ],
    agent: Annotated[
        Text, typer.Option(metavar="SPEC", help="Another agent than the one stated there.")
    ] = None,
    adapter: AdapterName = None,
    window: Window = None,
    scenarios_dir: ScenariosDir = None,
    faults_dir: FaultsDir = None,
) -> int:
    """Run one trial again.

    A stored trial, with the first event that differs from it, or a regression file, which passes when the trial
    ends acceptably and every rule fired. Exit: as the trial ends; stale: 1.
    """
    from forge_chaos.cli import replaying

    return replaying.replay(what, agent, adapter, tuple(scenarios_dir or ()), tuple(faults_dir or ()), window)


@app.command()
def history(
    files: Annotated[
        Optional[list[Path]],  # noqa: UP045
        typer.Argument(
            metavar="FILE...",
            help="Regression files (*.chaos.toml) with a table [history], or folders of them. Nothing: ours.",
        ),
    ] = None,
    package: Annotated[
        Text,
        typer.Option(metavar="NAME", help="Only files about this package; that of files that name none."),
    ] = None,
    versions: Annotated[
        Text, typer.Option(metavar="A,B,...", help="Play these releases, not those that the files state.")
    ] = None,
    range_: Annotated[
        Text,
        typer.Option(
            "--range", metavar="A..B", help="Find the release between these in which the bug came or went."
        ),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Play each release of the range.")] = False,
    newest: Annotated[
        bool, typer.Option("--newest", help="Beside the releases that the files state, the newest one.")
    ] = False,
    times: Annotated[
        int, typer.Option(metavar="N", min=1, help="Play each cell N times and say where the ends differ.")
    ] = 1,
    with_: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            "--with", metavar="REQ", help="A further requirement of each environment. May be given again."
        ),
    ] = None,
    python: Annotated[
        Text, typer.Option(metavar="PYTHON", help="Of the environments, as uv takes it.  [default: this one]")
    ] = None,
    cache: Annotated[
        File,
        typer.Option(
            metavar="DIR",
            help="Where environments are kept.  [default: forge-chaos/history in the user's cache]",
        ),
    ] = None,
    timeout: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=1, help="A trial that takes longer is killed: the control, or the plan."
        ),
    ] = 300.0,
    jobs: Annotated[int, typer.Option(metavar="N", min=1, help="Cells played side by side.")] = 2,
    out: Annotated[
        File,
        typer.Option(
            metavar="FILE|DIR", help="Write the result: a page (.md), JSON (.json), or both into a folder."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object on stdout, nothing else there.")
    ] = False,
) -> int:
    """Play regression files under releases of a package.

    Each release gets an environment of its own, with the dependencies of its time. It is bad where the plan ends
    badly and the same agent passes without the plan. Exit: 0 every side ended as its file says, 1 not, 2 something
    could not be decided, 3 forge-chaos failed, 4 misuse. With --versions or --range: 1 when a release is bad.
    """
    from forge_chaos.cli import history as door

    return door.history(
        door.Request(
            files=tuple(files or ()),
            package=package,
            versions=versions,
            span=range_,
            all=all_,
            newest=newest,
            times=times,
            requires=tuple(with_ or ()),
            python=python,
            cache=cache,
            timeout=timeout,
            jobs=jobs,
            out=out,
            as_json=as_json,
        )
    )


@app.command()
def report(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A run's directory, such as reports/0001-reference.")
    ],
    as_: Annotated[
        str, typer.Option("--as", metavar="FORM", help="terminal, json, markdown, junit or transcript.")
    ] = "terminal",
    output: Annotated[
        File, typer.Option("-o", "--output", metavar="FILE", help="Write it there instead of to stdout.")
    ] = None,
) -> int:
    """Show a finished run again, in another form."""
    from forge_chaos.cli import reporting

    return reporting.report(run, as_, output)


@app.command()
def new(
    kind: Annotated[str, typer.Argument(metavar="scenario|fault", help="What to make.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Made of a-z, 0-9 and _.")],
    folder: Annotated[
        File, typer.Option("--in", metavar="DIR", help="Where.  [default: scenarios/ or faults/ here]")
    ] = None,
    record: Annotated[
        Text,
        typer.Option("--from", metavar="SPEC", help=f"Record a clean run of your agent: {SPEC}."),
    ] = None,
    adapter: AdapterName = None,
    prompt: Annotated[Text, typer.Option(metavar="TEXT", help="The task of the recorded run.")] = None,
    files: Annotated[File, typer.Option(metavar="DIR", help="The files that it starts with.")] = None,
) -> int:
    """Write a working scenario or fault to start from.

    With --from, a scenario whose goal is what a clean run of your agent changes and answers.
    """
    from forge_chaos.cli import making

    return making.new(kind, name, folder, record, adapter, prompt, files)


@app.command(name="list")
def list_(
    what: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="faults, scenarios, adapters, personas, graders, mechanisms, worlds, renderers or executors. "
            "Nothing: these.",
        ),
    ] = "",
    scenarios_dir: ScenariosDir = None,
    faults_dir: FaultsDir = None,
) -> int:
    """List what there is to choose from."""
    from forge_chaos.cli import showing

    return showing.listing(what, tuple(scenarios_dir or ()), tuple(faults_dir or ()))


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A fault, a scenario, or RUN_DIR:TRIAL.")],
    scenarios_dir: ScenariosDir = None,
    faults_dir: FaultsDir = None,
) -> int:
    """Explain a fault or a scenario; tell a stored trial."""
    from forge_chaos.cli import showing

    return showing.show(name, tuple(scenarios_dir or ()), tuple(faults_dir or ()))


@app.command()
def inspect(
    agent: Annotated[str, typer.Argument(metavar="SPEC", help=f"{SPEC}.")],
    adapter: AdapterName = None,
) -> int:
    """Say what an agent is taken for.

    Its adapter and, where it brings tools of its own, their roles and targets.
    """
    from forge_chaos.cli import showing

    return showing.inspect(agent, adapter)


@app.command()
def serve(
    scenario: Annotated[Text, typer.Option(metavar="NAME", help="Whose solution the model plays.")] = None,
    persona: Annotated[
        Text, typer.Option(metavar="NAME", help="How it reacts to trouble.  [default: expert]")
    ] = None,
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="A port of 127.0.0.1; 0: any free one.")
    ] = 0,
    seed: Annotated[
        Number,
        typer.Option(
            metavar="S",
            min=0,
            help="The scenario's values and the plan's dice are drawn from it.  [default: 1]",
        ),
    ] = None,
    window: Window = None,
    files: Annotated[
        File,
        typer.Option(metavar="DIR", help="Write the files that the scenario starts with into a new folder."),
    ] = None,
    mcp: Annotated[
        str | None,
        typer.Option(
            metavar="stdio|http",
            help="Serve the scenario's tools too, as an MCP server; then it is one trial, judged at its end.",
        ),
    ] = None,
    upstream: Annotated[
        Text,
        typer.Option(
            metavar="URL",
            help="Instead of a scenario: stand before this real model, and put faults in between.",
        ),
    ] = None,
    plan: Annotated[
        str | None,
        typer.Option(
            metavar="RULES",
            help="With --mcp: the faults that the tools meet. With --upstream: those of the model.",
        ),
    ] = None,
    requests: Annotated[
        Number,
        typer.Option(metavar="N", min=1, help="With --upstream: end after so many requests of the model."),
    ] = None,
    trace: Annotated[
        File, typer.Option(metavar="FILE", help="With --upstream: write what happened, one event a line.")
    ] = None,
    scenarios_dir: ScenariosDir = None,
    faults_dir: FaultsDir = None,
) -> int:
    """Put the scripted model, or faults, behind a port.

    It is for any client. It prints how it is reached, and what the agent is to be told. It speaks
    /v1/chat/completions, /v1/responses and /v1/messages, plain and streamed. The tools are the agent's own. Each
    new conversation is a trial, and /t/NAME in front of /v1 names one. Ctrl-C ends it.

    With --upstream everything passes unchanged but for what the plan's rules do; which of them fired is told at the
    end, and the exit code is 2 when one did not.
    """
    given = {
        "--scenario": scenario,
        "--persona": persona,
        "--window": window,
        "--files": files,
        "--mcp": mcp,
        "--scenarios-dir": scenarios_dir or None,
    }
    if upstream is not None:
        if wrong := [word for word, value in given.items() if value is not None]:
            raise Misuse(
                f"{', '.join(wrong)} and --upstream do not go together: the model behind it is a real one, and plays "
                "no scenario. Leave one of them out."
            )
        from forge_chaos.cli import forwarding

        return forwarding.forward(upstream, plan, port, seed, requests, trace, tuple(faults_dir or ()))
    only = {"--requests": requests, "--trace": trace, "--faults-dir": faults_dir or None}
    if wrong := [word for word, value in only.items() if value is not None]:
        raise Misuse(f"{', '.join(wrong)} needs --upstream URL.")
    if scenario is None:
        raise Misuse(
            "name a scenario with --scenario NAME (forge-chaos list scenarios), or a real model with --upstream URL."
        )
    if mcp is not None:
        from forge_chaos.cli import proxying

        door = proxying.door(mcp, files, window)
        dirs = tuple(scenarios_dir or ())
        return proxying.world(scenario, door, port, plan, persona or "expert", seed, dirs)
    if plan is not None:
        raise Misuse(
            "--plan needs --mcp: without it the tools are the agent's own, and no fault can reach them. Faults in the "
            "replies of a real model are put there by --upstream URL."
        )
    from forge_chaos.cli import serving

    return serving.serve(scenario, persona or "expert", port, seed, window, files, tuple(scenarios_dir or ()))


@app.command(context_settings={"allow_interspersed_args": False})
def proxy(
    command: Annotated[
        list[str], typer.Argument(metavar="-- COMMAND...", help="What starts the MCP server, over stdio.")
    ],
    plan: Annotated[str, typer.Option(metavar="RULES", help="The faults, as one plan.")],
    seed: Annotated[int, typer.Option(min=0, metavar="S", help="Seed of the plan.")] = 1,
    trace: Annotated[
        File, typer.Option(metavar="FILE", help="Write what happened, one event a line.")
    ] = None,
    faults_dir: FaultsDir = None,
) -> int:
    """Put faults in front of any MCP server, in any language.

    Name it where the client's configuration has the server's own command. Which rules fired is told on standard
    error when the client leaves; the exit code is 2 when one did not.
    """
    from forge_chaos.cli import proxying

    return proxying.proxy(command, plan, seed, trace, tuple(faults_dir or ()))


@app.command()
def selfcheck(
    processes: Annotated[int, typer.Option(min=1, metavar="N", help="Processes side by side.")] = 2,
) -> int:
    """Test the tester.

    Every known-bad agent must be convicted, and no good one may be.
    """
    from forge_chaos.cli import checking

    return checking.selfcheck(processes)
