"""`forge-chaos fuzz`."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from contextlib import redirect_stdout, suppress
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from forge_chaos import campaign, regression, settings
from forge_chaos.bench import SCRIPTED, Setup
from forge_chaos.cli import running, unheard
from forge_chaos.cli.paying import consent
from forge_chaos.cli.stopping import stoppable
from forge_chaos.errors import Misuse, unknown
from forge_chaos.runs import next_directory
from forge_chaos.verdict import OUTCOMES, Outcome

if TYPE_CHECKING:
    from forge_chaos.fuzzing.found import Failure, Result

FILE = "fuzz.json"
NEVER = ("invalid", "unfair", "not_reached", "recovered")  # outcomes that are no failure


@dataclass(frozen=True, slots=True)
class Search:
    """The options that `fuzz` has and `run` has not."""

    budget: int
    max_rules: int
    target: str | None = None
    first: bool = False
    save: Path | None = None


def fuzz(request: running.Request, search: Search) -> int:
    """Search, print what was found, return the exit code."""
    outcome = _outcome(search.target)
    with redirect_stdout(sys.stderr):
        result = _searched(request, search, outcome)
    try:
        sys.stdout.write(_json(result) if request.as_json else told(result))
        sys.stdout.flush()
    except BrokenPipeError:
        unheard()
    return result.exit


def _searched(request: running.Request, search: Search, outcome: Outcome | None) -> Result:
    from forge_chaos.fuzzing.run import fuzz  # hypothesis is loaded by this alone

    stated = settings.read(Path.cwd())
    setup, options = running.setup_of(request, stated), running.options_of(request, stated)
    with running.seated(setup) as (executor, hello, home):
        made = campaign.Campaign(setup, options, executor, hello, home)
        made.check()
        agree = consent(setup.model, request.yes, os.environ)
        if agree is not None:
            agree(search.budget)
        directory = _directory(request.out, made.agent)
        folder = directory if search.save is None else search.save
        with running.progress_bar(request.as_json) as progress, stoppable(progress) as watched:
            result = fuzz(
                made,
                directory,
                budget=search.budget,
                max_rules=search.max_rules,
                outcome=outcome,
                most=1 if search.first else None,
                progress=watched,
                told=lambda failure: _kept(failure, made, folder),
            )
    (directory / FILE).write_text(_json(result), encoding="utf-8")
    return result


def _outcome(target: str | None) -> Outcome | None:
    bad = tuple(outcome for outcome in get_args(Outcome) if outcome not in NEVER)
    if target is not None and target not in bad:
        raise unknown("outcome to look for", target, bad)
    return next((outcome for outcome in OUTCOMES if outcome == target), None)


def _directory(out: Path | None, agent: str) -> Path:
    if out is None:
        return next_directory(Path("reports"), f"fuzz-{running.label(agent)}")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Misuse(f"{out} is there already. Name a directory that does not exist yet with --out.")
    out.mkdir(parents=True, exist_ok=True)
    return out


def _free(folder: Path, failure: Failure) -> Path:
    """A file that is not there yet, or that holds this very plan: a regression is never lost to another."""
    for number in count(1):
        path = folder / f"{_name(failure)}{'' if number == 1 else f'-{number}'}.chaos.toml"
        if not path.exists():
            return path
        with suppress(Misuse):
            if regression.read(path).rules == failure.plan:
                return path
    raise AssertionError


def _kept(failure: Failure, made: campaign.Campaign, folder: Path) -> Failure:
    """The failure with its regression file, where one can say it all, and the command that shows it again."""
    setup = made.setup
    command = running_command(failure, setup)
    whole = (setup.model, setup.persona, setup.workspace) == (SCRIPTED, "expert", None) and not setup.tasks
    if not whole or not failure.failed:
        return replace(failure, command=shlex.join(command))
    path = _free(folder, failure)
    regression.write(
        regression.Regression(
            path,
            failure.key.scenario,
            failure.plan,
            failure.seed,
            setup.agent,
            failure.hash,
            failure.key.outcome,
            failure.why,
            window=setup.window,
        )
    )
    command = ["forge-chaos", "replay", str(path)]
    command += ["--adapter", setup.adapter] if setup.adapter is not None else []
    command += _places(setup)
    return replace(failure, command=shlex.join(command), saved=str(path))


def running_command(failure: Failure, setup: Setup) -> list[str]:
    """The run of this plan alone."""
    command = ["forge-chaos", "run", "--scenarios", failure.key.scenario]
    command += ["--plan", ",".join(failure.plan), "--seed", str(failure.seed)]
    for option, value, otherwise in (
        ("--agent", setup.agent, None),
        ("--adapter", setup.adapter, None),
        ("--persona", setup.persona, "expert"),
        ("--model", setup.model, SCRIPTED),
        ("--workspace", setup.workspace, None),
        ("--window", setup.window, None),
    ):
        command += [option, str(value)] if value != otherwise else []
    for task in setup.tasks:
        command += ["--tasks", task]
    return command + _places(setup)


def _places(setup: Setup) -> list[str]:
    words = []
    for option, places in (("--scenarios-dir", setup.scenarios_dirs), ("--faults-dir", setup.faults_dirs)):
        for place in places:
            words += [option, place]
    return words


def _name(failure: Failure) -> str:
    """A file's name that says what it is about; equal failures get equal names."""
    first = failure.plan[0].partition(":")[0].partition("@")[0]
    words = [failure.key.scenario, failure.key.outcome, failure.key.invariant or first]
    return "-".join(re.sub(r"[^a-zA-Z0-9]+", "_", word).strip("_") for word in words)


def told(result: Result) -> str:
    """The result in words; the last line is the command that reproduces the first failure."""
    lines = []
    if result.demonstration:
        lines.append(
            "This is a demonstration: the agent that comes with forge-chaos was searched, not yours."
        )
    lines.append(
        f"{result.trials} of {result.budget} trials on {result.agent}, seed {result.seed}: "
        f"{_count(len(result.failures), 'failure')}. {result.fired} trials met a fault, drawn from {result.cells} rules."
    )
    lines += [f"Skipped {each.scenario}: {each.why}" for each in result.skipped]
    lines += result.notes
    lines += [f"Our side broke: {text}" for text in result.broken]
    for number, failure in enumerate(result.failures, 1):
        lines += ["", f"{number}. {failure.key}", *_story(failure)]
    for failure in result.flaky:
        lines += ["", f"FLAKY {failure.key}", *_story(failure)]
    if result.exit == 2 and not result.flaky:
        lines.append("Nothing that was asked for could fire, so nothing was searched.")
    if result.failures:
        lines += ["", result.failures[0].command]
    return "\n".join(lines) + "\n"


def _story(failure: Failure) -> list[str]:
    from forge_chaos.fuzzing.run import CAUSES

    lines = [
        f"   plan     {text}" if not at else f"            {text}" for at, text in enumerate(failure.plan)
    ]
    lines.append(f"   why      {failure.why}")
    lines += [f"   {'trace' if not at else '':8} {text}" for at, text in enumerate(failure.lines)]
    lines.append(f"   layer    {failure.layer}")
    lines.append(f"   found    in trial {failure.at}; {size(failure)}")
    if failure.runs > 1:
        lines.append(f"   rate     {failure.failed} of {failure.runs} runs of this plan ended so")
    if failure.differs is not None:
        was, now = failure.differs
        lines += [
            "   FLAKY    the plan was run again in a fresh process, and the trace was another one, first here:",
            f"            then  {was}",
            f"            now   {now}",
            f"            {CAUSES}",
        ]
    lines.append(f"   again    {failure.command}")
    return lines


def size(failure: Failure) -> str:
    """How small the plan is known to be."""
    spent = _count(failure.trials, "trial")
    if failure.minimal and not failure.simpler:
        return "nothing simpler exists among the rules that were asked for"
    if failure.minimal:
        how = f"in {spent}" if failure.trials else "by trials that had been run before"
        return (
            f"1-minimal, verified {how}: without any one rule, or with one that is shorter, earlier or "
            f"simpler, it does not end so"
        )
    return f"NOT verified as minimal, after {spent} of making it smaller"


def _count(n: int, word: str) -> str:
    return f"{n or 'no'} {word}{'' if n == 1 else 's'}"


def _json(result: Result) -> str:
    from forge_chaos.renderers.json import whole

    found: dict[str, Any] = asdict(result)
    return json.dumps(whole(found), indent=2, allow_nan=False) + "\n"
