"""Is there nothing at this path?"""

from __future__ import annotations

from forge_chaos.events import Trace
from forge_chaos.graders import _read
from forge_chaos.reading import matches
from forge_chaos.verdict import Verdict


def file_absent(trace: Trace, *, path: str) -> Verdict:
    """Nothing stands at `path`, nor below it when it names a folder."""
    world = _read.world(trace)
    if world is None:
        return _read.unknown("file_absent")
    seq, snapshot = world
    path = _read.clean(path)
    there = any(matches(name, [path]) for name in snapshot.resources)
    return _read.verdict("file_absent", not there, f"{path} does not exist", f"{path} exists", seq)
