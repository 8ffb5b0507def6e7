"""What a test that did not pass says: the plan, how it ended, the lines of the trace that prove it, and the
command that shows it again."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from forge_chaos import notation, story
from forge_chaos.events import Trace
from forge_chaos.plugin.trying import Swept, Tried
from forge_chaos.renderers import _words
from forge_chaos.verdict import Trial

EVIDENCE = 6  # lines of the trace that are shown
TOLD = 3  # failures with their evidence
SHOWN = _words.SHOWN  # failures that are named


def trial(of: Trial, trace: Trace) -> list[str]:
    """One trial: the outcome of what was tried, why, the evidence."""
    found = of.judgement
    marks = sorted({*(hit.event for hit in of.facts.fired[:3]), *found.evidence})[-EVIDENCE:]
    return [_ended(of), _words.safe(found.why), *_lines(trace, marks)]


def _ended(of: Trial) -> str:
    word = "acceptable" if of.judgement.acceptable else "NOT acceptable"
    bar = f" (bar: {of.judgement.bar})" if of.judgement.bar else ""
    return f"{of.judgement.outcome}, {word}{bar}: {of.scenario} under {_words.rules(of)}, seed {of.seed}"


def _lines(trace: Trace, marks: Sequence[int]) -> list[str]:
    return [f"  {_words.safe(line)}" for line in story.lines(trace, marks)]


def stale(tried: Tried, then: str | None, search: str) -> list[str]:
    """A plan of which a rule did not fire; `then` is the scenario's hash when it was written."""
    trial, changed = tried.trial, ""
    if then is not None and then != tried.hash:
        changed = f"; the scenario has changed since it was written ({then} then, {tried.hash} now)"
    return [
        f"STALE: {_words.safe(', '.join(tried.stale))} did not fire in {trial.scenario}, seed {trial.seed}{changed}",
        _words.safe(trial.judgement.why),
        f"where it would: {search}",
    ]


def unsolved(of: Trial, trace: Trace) -> list[str]:
    """A trial without any fault that did not pass."""
    why = of.judgement.why.removeprefix("No rule fired; as a clean trial it is ")
    return [
        f"{of.scenario} is not solved without any fault, so that nothing can be said of faults in it, seed {of.seed}",
        _words.safe(why),
        *_lines(trace, of.judgement.evidence[-EVIDENCE:]),
    ]


def sweep(swept: Swept) -> list[str]:
    """The failures of a sweep, alike ones once: the first with evidence and command, the others named."""
    found = _words.groups(swept.failing)
    fired = sum(bool(t.facts.fired) for t in swept.trials)
    lines = [f"{len(swept.failing)} of {_words.plural(fired, 'trial')} with a fault did not end acceptably"]
    for group in found[:TOLD]:
        lines += ["", *trial(group.first, swept.traces[group.first.id])]
        lines += [again(group.first.replay)] if group.first.replay else []
    lines += [""] if found[TOLD:] else []
    lines += [_ended(group.first) for group in found[TOLD:SHOWN]]
    lines += [f"... and {len(found) - SHOWN} more"] if found[SHOWN:] else []
    lines += [f"left out: {skipped.scenario}: {_words.safe(skipped.why)}" for skipped in swept.card.skipped]
    return lines


def again(command: str) -> str:
    return f"again: {command}"


def command(*words: str, place: str | None = None, extra: Sequence[str] = (), **options: object) -> str:
    """A line for a shell; options that are None are left out. `place` is the folder to run it in, where
    that is another one."""
    said = list(words)
    for name, value in options.items():
        said += [] if value is None else [f"--{name.replace('_', '-')}", str(value)]
    line = shlex.join([*said, *extra])
    return line if place is None else f"cd {shlex.quote(place)} && {line}"


def classes(rules: Sequence[str]) -> str:
    """The list for `--faults` that sweeps every place of these rules' faults."""
    parsed = map(notation.parse, rules)
    return ",".join(dict.fromkeys(f"{r.fault}.{r.variant}" if r.variant else r.fault for r in parsed))


def properties(of: Trial) -> Mapping[str, str]:
    """What JUnit shows of a trial, by the names that `report --as junit` has."""
    return {
        "outcome": of.judgement.outcome,
        "scenario": of.scenario,
        "plan": _words.rules(of),
        "seed": str(of.seed),
        "replay": of.replay,
    }


def swept(of: Swept, command: str, faults: str | None) -> Mapping[str, str]:
    """What JUnit shows of a sweep: how many trials ended how, by the same names as for one trial."""
    tried = [trial for trial in of.trials if trial.kind == "fault"]
    ends = ", ".join(
        f"{n} {outcome}" for outcome, n in Counter(t.judgement.outcome for t in tried).most_common()
    )
    return {
        "outcome": ends or "nothing tried",
        "scenario": ", ".join(dict.fromkeys(trial.scenario for trial in of.trials)),
        "faults": faults or ", ".join(row.fault for row in of.card.rows),
        "seed": str(of.card.seed),
        "replay": command,
    }


def from_here(path: Path, here: Path) -> str:
    """A path as it is written in `here`."""
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
