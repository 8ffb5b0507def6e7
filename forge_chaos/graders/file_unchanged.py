"""Did the agent leave a file as it was?"""

from __future__ import annotations

from forge_chaos.errors import Misuse
from forge_chaos.events import Trace
from forge_chaos.graders import _read
from forge_chaos.reading import matches, own_changes, read
from forge_chaos.verdict import Verdict


def file_unchanged(trace: Trace, *, path: str | None = None, glob: str | None = None) -> Verdict:
    """The agent left the file at `path` (or all below it), or all that match `glob`, as they were.

    What a fault or another hand changed is the world's doing. Unknown when nothing was there before.
    Raises Misuse unless exactly one of the two is given.
    """
    if (path is None) == (glob is None):
        raise Misuse("grader 'file_unchanged' takes either path or glob.")
    pattern = _read.clean(path) if path is not None else glob or ""
    reading = read(trace)
    if reading.snapshot is None or reading.snapped is None or reading.started is None:
        return _read.unknown("file_unchanged")
    found = {name: how for name, how in own_changes(reading).items() if matches(name, [pattern])}
    if found:
        why = ", ".join(f"{name} was {kind}" for name, (kind, _) in found.items())
        seqs = {n for _, numbers in found.values() for n in numbers}
        return Verdict("file_unchanged", "fail", why, tuple(sorted(seqs)))
    if not any(matches(name, [pattern]) for name in reading.started.resources):
        return _read.unknown("file_unchanged", f"nothing was at {pattern} before", reading.snapped)
    return Verdict("file_unchanged", "pass", f"{pattern} is as it was", (reading.snapped,))
