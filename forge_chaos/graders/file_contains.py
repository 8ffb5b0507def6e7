"""Does a file hold this text somewhere?"""

from __future__ import annotations

from forge_chaos.events import Trace
from forge_chaos.graders import _read
from forge_chaos.verdict import Verdict


def file_contains(trace: Trace, *, path: str, text: str, ignore_case: bool = False) -> Verdict:
    """The file at `path` exists and `text` stands in it.

    Unknown for bytes, and for a file too long to be kept whole in a trace.
    """
    world = _read.world(trace)
    if world is None:
        return _read.unknown("file_contains")
    seq, snapshot = world
    path = _read.clean(path)
    if path not in snapshot.resources:
        return Verdict("file_contains", "fail", f"{path} does not exist", (seq,))
    value = _read.whole(snapshot.resources[path])
    if value is None:
        return _read.unknown("file_contains", f"{path} is not kept whole as text", seq)
    found = text.casefold() in value.casefold() if ignore_case else text in value
    return _read.verdict(
        "file_contains",
        found,
        f"{path} holds {_read.shown(text)}",
        f"{path} does not hold {_read.shown(text)}: {_read.shown(value)}",
        seq,
    )
