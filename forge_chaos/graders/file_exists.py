"""Is there a file at this path?"""

from __future__ import annotations

from forge_chaos.events import Trace
from forge_chaos.graders import _read
from forge_chaos.reading import matches
from forge_chaos.verdict import Verdict


def file_exists(trace: Trace, *, path: str) -> Verdict:
    """A file stands at `path`, or below it when it names a folder."""
    world = _read.world(trace)
    if world is None:
        return _read.unknown("file_exists")
    seq, snapshot = world
    path = _read.clean(path)
    there = any(matches(name, [path]) for name in snapshot.resources)
    return _read.verdict("file_exists", there, f"{path} exists", f"{path} does not exist", seq)
