"""Did the agent change, delete or make a file?"""

from __future__ import annotations

from forge_chaos.errors import Misuse
from forge_chaos.events import Trace
from forge_chaos.graders import _read
from forge_chaos.reading import matches, own_changes, read
from forge_chaos.verdict import Verdict


def file_changed(trace: Trace, *, path: str | None = None, glob: str | None = None) -> Verdict:
    """The agent changed, deleted or made the file at `path` (or below it), or one that matches `glob`.

    The world before is compared with the world at the end. What a fault or another hand changed is the
    world's doing and does not count. Raises Misuse unless exactly one of the two is given.
    """
    if (path is None) == (glob is None):
        raise Misuse("grader 'file_changed' takes either path or glob.")
    pattern = _read.clean(path) if path is not None else glob or ""
    reading = read(trace)
    if reading.snapshot is None or reading.snapped is None or reading.started is None:
        return _read.unknown("file_changed")
    found = {name: how for name, how in own_changes(reading).items() if matches(name, [pattern])}
    if not found:
        return Verdict("file_changed", "fail", f"the agent changed nothing at {pattern}", (reading.snapped,))
    why = ", ".join(f"{name} was {kind}" for name, (kind, _) in found.items())
    return Verdict(
        "file_changed", "pass", why, tuple(sorted({n for _, seqs in found.values() for n in seqs}))
    )
