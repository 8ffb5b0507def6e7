"""`forge-chaos serve --upstream URL`: the model gate in front of a real endpoint, for a client in any language."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from time import monotonic

from forge_chaos import catalog, notation, settings, tracefile
from forge_chaos.errors import Misuse
from forge_chaos.events import Asked, Finished, Injected, Started, Trace, find
from forge_chaos.gate import Resolved
from forge_chaos.modelgate import ModelGate
from forge_chaos.recorded import redactor
from forge_chaos.recorder import Recorder
from forge_chaos.schedule import matches

SHOWN = 10  # requests of a rule that are named


def forward(
    url: str,
    plan: str | None,
    port: int,
    seed: int | None,
    requests: int | None,
    trace: Path | None,
    faults_dir: Sequence[Path],
) -> int:
    """Stand before the endpoint until Ctrl-C, or until so many requests of the model are over. 0 when every rule
    fired, 2 when one did not, 3 when a fault's own mechanism broke."""
    from forge_chaos.modelproxy import ModelProxy
    from forge_chaos.modelserver import loopback
    from forge_chaos.modelserver.upstream import Upstream

    try:
        from forge_chaos.modelserver.relay import application
    except ImportError as error:
        raise loopback.missing(error) from None
    upstream = Upstream(url)
    stated = settings.read(Path.cwd())
    faults = catalog.faults([*stated.faults_dir, *faults_dir])
    rules = [catalog.resolve(rule, faults) for rule in notation.parse_plan(plan).rules] if plan else []
    for rule in rules:
        if rule.seam != "model":
            raise Misuse(
                f"{rule.text}: only the requests of a model come by here, and this one is at the {rule.seam}. "
                "forge-chaos proxy has the tools of an MCP server, serve --mcp those of a scenario."
            )
        if not matches(rule.rule, "model", None):
            raise Misuse(
                f"{rule.text}: a request of the model is a call of no tool, so this can never fire. Leave out what "
                "stands behind the colon, and member."
            )
    if trace is not None and not trace.absolute().parent.is_dir():
        raise Misuse(f"--trace {trace}: there is no folder {trace.parent}. Make it, or name another.")
    drawn = seed if seed is not None else stated.seed if stated.seed is not None else 1
    record = Recorder(monotonic, redactor())
    where = record.redact(f"upstream: {upstream.base}")
    record(Started, "", "", where, "own", tuple(r.text for r in rules), drawn)
    enough, broken = Event(), list[str]()

    def stop(end: str, why: str) -> None:
        broken.append(why)
        enough.set()

    left = requests or 0

    def over() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            enough.set()

    gate = ModelGate(rules, record, monotonic, seed=drawn, budget=sys.maxsize, stop=stop)
    proxy = ModelProxy(upstream, gate, lambda text: _say(f"forge-chaos: {text}"), over)
    with loopback.served(application(proxy), port, proxy.close) as number:
        here = f"http://127.0.0.1:{number}"
        sys.stdout.write(f"OPENAI_BASE_URL={here}/v1 ANTHROPIC_BASE_URL={here}\n")
        sys.stdout.flush()
        try:
            enough.wait()
            end = "answered"
        except KeyboardInterrupt:
            end = "cancelled"
    record(Finished, end)
    if trace is not None:
        trace.write_text(tracefile.dumps(record.trace))
    return _summed_up(record.trace, rules, broken)


def _summed_up(trace: Trace, rules: Sequence[Resolved], broken: Sequence[str]) -> int:
    """Say what came of the plan; the exit code."""
    hit: dict[str, list[int]] = {}
    for _, body in find(trace, Injected):
        hit.setdefault(body.rule, []).append(body.request or 0)
    for rule in rules:
        found = hit.get(rule.text, [])
        shown = ", ".join(map(str, found[:SHOWN])) + (
            f" and {len(found) - SHOWN} more" if found[SHOWN:] else ""
        )
        many = "s" if len(found) > 1 else ""
        _say(f"fired: {rule.text} on request{many} {shown}" if found else f"never fired: {rule.text}")
    asked = sum(1 for _ in find(trace, Asked))
    _say(f"{asked} model request{'s' if asked != 1 else ''} came by.")
    for why in broken:
        _say(f"forge-chaos: {why}")
    return 3 if broken else 0 if all(rule.text in hit for rule in rules) else 2


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
