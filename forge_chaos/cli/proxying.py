"""`forge-chaos proxy`: faults in front of any MCP server, and `serve --mcp`: a scenario's tools as one."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from forge_chaos import catalog, notation, settings, story, tracefile
from forge_chaos.adapters._mcp import quiet
from forge_chaos.bench import Bench, Setup
from forge_chaos.errors import Misuse, unknown
from forge_chaos.events import Finished, Injected, Started, find
from forge_chaos.judging import Judge
from forge_chaos.order import Order, trial_id
from forge_chaos.outside import Door, seat
from forge_chaos.recorded import redactor
from forge_chaos.recorder import Recorder
from forge_chaos.trial import CONTRACT

EVIDENCE = 6  # lines of the trace that are shown


def proxy(
    command: Sequence[str], plan: str, seed: int, trace: Path | None, faults_dir: Sequence[Path]
) -> int:
    """Stand between a client on stdin and stdout and the server that `command` starts, until the client
    leaves. 0 when every rule fired, 2 when one did not."""
    from forge_chaos.proxy import Proxy

    if shutil.which(command[0]) is None:
        raise Misuse(
            f"cannot start the server: there is no command {command[0]!r}. Check its path and rights."
        )
    stated = settings.read(Path.cwd())
    faults = catalog.faults([*stated.faults_dir, *faults_dir])
    rules = [catalog.resolve(rule, faults) for rule in notation.parse_plan(plan).rules]
    for rule in rules:
        if rule.seam != "tool":
            raise Misuse(
                f"{rule.text}: a proxy has the calls of tools alone, and this one is at the {rule.seam}."
            )
    record = Recorder(monotonic, redactor())
    record(Started, "", "", f"proxy: {' '.join(command)}", "own", tuple(r.text for r in rules), seed)
    between = Proxy(command, rules, record, seed)
    try:
        with quiet():
            asyncio.run(between.server.run_stdio_async(show_banner=False, log_level="CRITICAL"))
        end = "answered"
    except KeyboardInterrupt:
        end = "cancelled"
    record(Finished, end)
    if trace is not None:
        trace.write_text(tracefile.dumps(record.trace))
    fired = {body.rule for _, body in find(record.trace, Injected)}
    for rule in rules:
        counted, idle = between.met().get(rule.text, (0, 0))
        _say(
            f"fired: {rule.text}"
            if rule.text in fired
            else f"never fired: {rule.text} ({_why(counted, idle)})"
        )
    return 0 if all(rule.text in fired for rule in rules) else 2


def _why(counted: int, idle: int) -> str:
    """Why a rule never fired."""
    if idle:
        return f"it met {_calls(idle)}, and there was nothing in it that this fault can change"
    return f"it counted {_calls(counted)}, and was due on none" if counted else "no call matched it"


def _calls(n: int) -> str:
    return f"{n} call{'' if n == 1 else 's'}"


def door(given: str, files: Path | None, window: int | None) -> Door:
    """The way to a scenario's tools. Raises Misuse for one that is none, and for what goes with none."""
    if files is not None or window is not None:
        raise Misuse("--files and --window go without --mcp: the scenario's files are behind its tools then.")
    if given == "stdio":
        return "stdio"
    if given == "http":
        return "http"
    raise unknown("door", given, ("stdio", "http"))


def world(
    name: str, door: Door, port: int, plan: str | None, persona: str, seed: int | None, dirs: Sequence[Path]
) -> int:
    """One trial of an agent outside, its tools over MCP and, if it likes, its model over the wire. The exit
    code is the outcome's, as that of `replay`."""
    stated = settings.read(Path.cwd())
    setup = Setup(
        persona=persona,
        scenarios_dirs=tuple(str(d.absolute()) for d in (*stated.scenarios_dir, *dirs)),
        faults_dirs=tuple(str(d.absolute()) for d in stated.faults_dir),
    )
    drawn = seed if seed is not None else stated.seed if stated.seed is not None else 1
    rules = tuple(notation.write(rule) for rule in notation.parse_plan(plan).rules) if plan else ()
    told = _say if door == "stdio" else _out
    home = Bench(setup)
    outside = Bench(setup, seat=seat(door, port, told))
    scenario = home.scenario(name, drawn)
    for rule in rules:
        home.resolve(rule)
    judge = Judge(home)
    judge.clean(scenario)
    if door == "http":
        told(f"{scenario.prompt.strip()}{CONTRACT}\n")
    id = trial_id(name, "outside", rules, drawn, 0)
    trace = outside.trace(Order(id, name, rules, drawn, 0, "fault" if rules else "clean"))
    found, judgement = judge(trace, scenario)
    word = "acceptable" if judgement.acceptable else "NOT acceptable"
    _say(f"{name} under {', '.join(rules) or 'the empty plan'}, seed {drawn}")
    _say(f"{judgement.outcome}, {word}: {judgement.why}")
    marks = sorted({*(fired.event for fired in found.fired[:3]), *judgement.evidence})
    for text in story.lines(trace, marks[-EVIDENCE:]):
        _say(f"  {text}")
    if found.broken:
        return 3
    if rules and not judgement.scored:
        return 2
    return 0 if judgement.acceptable or (not rules and found.goal == "full") else 1


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _out(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
