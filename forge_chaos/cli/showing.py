"""`forge-chaos list`, `show` and `inspect`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from forge_chaos import catalog, registry, settings, story
from forge_chaos.errors import Misuse, unknown
from forge_chaos.nouns import Fault, Scenario

LEAVES = ("adapters", "executors", "graders", "mechanisms", "personas", "renderers", "worlds")
WIDTH = 110
KINDS = ("faults", "scenarios", *LEAVES)


def _dirs(scenarios_dir: Sequence[Path], faults_dir: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    stated = settings.read(Path.cwd())
    return [*stated.scenarios_dir, *scenarios_dir], [*stated.faults_dir, *faults_dir]


def listing(what: str, scenarios_dir: Sequence[Path], faults_dir: Sequence[Path]) -> int:
    """Names with one line each."""
    scenarios, faults = _dirs(scenarios_dir, faults_dir)
    if what == "":
        _table([(kind, f"forge-chaos list {kind}") for kind in KINDS])
    elif what == "faults":
        known = catalog.faults(faults)
        _table([(f.id, f"{f.summary} ({', '.join(v.id for v in f.variants)})") for f in known.values()])
    elif what == "scenarios":
        loaded = [catalog.load(name, 1, scenarios) for name in catalog.folders(scenarios)]
        _table([(s.name, f"{s.suite}: {story.short(s.prompt, 100)}") for s in loaded])
    elif what == "adapters":
        found = [registry.module("adapters", name).adapter for name in registry.names("adapters")]
        _table([(a.name, f"{a.time} time; calls counted in {a.order}") for a in found])
    elif what in LEAVES:
        _table([(name, _first_line(what, name)) for name in registry.names(what)])
    else:
        raise unknown("list", what, KINDS)
    return 0


def _first_line(package: str, name: str) -> str:
    """What a leaf says of itself: its file tells what it is for, a grader's function what it demands."""
    speaker = registry.leaf(package, name) if package == "graders" else registry.module(package, name)
    return story.short((speaker.__doc__ or "").strip().split("\n\n")[0], WIDTH)


def _table(rows: Sequence[tuple[str, str]]) -> None:
    width = max((len(name) for name, _ in rows), default=0)
    for name, text in rows:
        sys.stdout.write(f"{name:<{width}}  {text}\n")


def show(name: str, scenarios_dir: Sequence[Path], faults_dir: Sequence[Path]) -> int:
    """Explain a fault or a scenario, or print a stored trial's trace."""
    scenarios, faults = _dirs(scenarios_dir, faults_dir)
    directory, colon, id = name.rpartition(":")
    if colon and directory:
        return _trial(Path(directory), id)
    known, folders = catalog.faults(faults), catalog.folders(scenarios)
    if name in known:
        _fault(known[name])
    elif name in folders:
        _scenario(catalog.load(name, 1, scenarios), folders[name])
    elif Path(name).is_dir():
        raise Misuse(f"{name} is a directory. Show a run with: forge-chaos report {shlex.quote(name)}")
    else:
        raise unknown("fault or scenario", name, [*known, *folders], way="forge-chaos list")
    return 0


def _trial(directory: Path, id: str) -> int:
    from forge_chaos.store import Store

    with Store.open(directory) as store:
        trial, trace = store.trial(id), store.trace(id)
    sys.stdout.write(f"{trial.judgement.outcome}: {trial.judgement.why}\n")
    for text in story.lines(trace):
        sys.stdout.write(f"{text}\n")
    return 0


def _fault(fault: Fault) -> None:
    out = sys.stdout.write
    out(f"{fault.id}: {fault.summary}\n")
    out(
        f"  family {fault.family}, at the {fault.seam} seam, on tools with a role of: {', '.join(fault.roles) or 'any'}\n"
    )
    out(f"  tempts to: {fault.tempts}\n")
    out(f"  convicts: {', '.join(fault.convicts)}\n")
    out(f"  bar where no expert can play: once {fault.bar.get('once')}, ever {fault.bar.get('ever')}\n")
    for variant in fault.variants:
        marks = [
            "seen" if variant.explicit else "cannot be seen",
            "/".join(variant.lasts),
            *([f"refuses the {variant.refuses}"] if variant.refuses else []),
            *([f"needs {', '.join(variant.needs)}"] if variant.needs else []),
        ]
        out(f"\n  {fault.id}.{variant.id} ({'; '.join(marks)}), mechanism {variant.mechanism}\n")
        for wording, text in variant.text.items():
            out(f"    {wording}: {text}\n")
    out(f"\nTry it: forge-chaos run --faults {fault.id}\n")


def _scenario(scenario: Scenario, folder: Path) -> None:
    out = sys.stdout.write
    out(f"{scenario.name} ({scenario.suite}), {folder}\n\n{scenario.prompt}\n\n")
    for turn in scenario.turns:
        out(f"then: {turn.prompt}\n\n")
    out(
        f"  tools: {', '.join(scenario.tools) or 'all of its world'}; world {scenario.world} on {scenario.workspace}\n"
    )
    out(f"  limit: {scenario.limits.steps} tool calls; right end: {scenario.expects}\n")
    for title, checks in (
        ("full", scenario.full),
        ("degraded", scenario.degraded),
        ("must not", scenario.must_not),
    ):
        for check in checks:
            out(f"  {title}: {check.grader} {_params(check.params)}\n")
    out(f"\nTry it: forge-chaos run --scenarios {scenario.name}\n")


def _params(params: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name}={getattr(value, '__name__', None) or repr(value)}" for name, value in params.items()
    )


def inspect(agent: str, adapter: str | None) -> int:
    """What an agent is taken for. It is loaded in a child process, as in a run."""
    from forge_chaos.cli import running

    setup = running.setup_of(running.Request(agent=agent, adapter=adapter), settings.read(Path.cwd()))
    with redirect_stdout(sys.stderr), running.seated(setup) as (_, hello, _home):
        pass
    out = sys.stdout.write
    out(f"{hello['agent']}: adapter {hello['adapter']}, {hello['time']} time, ")
    out("deterministic\n" if hello["deterministic"] else "not deterministic: use --trials N\n")
    tools = hello["own_tools"]
    if hello["folder"]:
        out(
            "It is started for each trial in a fresh folder with the scenario's files, and reaches the scenario's\n"
            "tools at FORGE_CHAOS_MCP_URL and its model at OPENAI_BASE_URL and ANTHROPIC_BASE_URL: faults at both.\n"
            "It may work on the files by itself, where no fault reaches it. It prints one JSON object, its output.\n"
        )
        return 0
    if tools is None:
        out("It takes the scenario's tools.\n")
        return 0
    out(f"It brings {len(tools)} tools of its own; roles and targets as inferred or declared:\n")
    _table([(f"  {name}", _said(spec)) for name, spec in tools.items()])
    if tools:
        out(
            'To correct one, declare it on the function: function.chaos = {"roles": ["read"], "target": "path"}\n'
        )
    return 0


def _said(spec: Mapping[str, Any]) -> str:
    parts = [", ".join(spec["roles"]) or "no role", f"target {spec['target'] or 'none'}"]
    return "; ".join([*parts, *(["polled"] if spec["poll"] else [])])
