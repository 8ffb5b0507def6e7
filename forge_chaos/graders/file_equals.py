"""Does a file hold exactly this text?"""

from __future__ import annotations

from forge_chaos import recorded
from forge_chaos.events import Trace
from forge_chaos.graders import _read
from forge_chaos.verdict import Verdict


def file_equals(trace: Trace, *, path: str, text: str, strict: bool = False) -> Verdict:
    """The file at `path` is `text`, character for character.

    One newline at the very end may be there or not, on either side, unless `strict`. Nothing else is
    tolerated.
    """
    world = _read.world(trace)
    if world is None:
        return _read.unknown("file_equals")
    seq, snapshot = world
    path = _read.clean(path)
    if path not in snapshot.resources:
        return Verdict("file_equals", "fail", f"{path} does not exist", (seq,))
    value = snapshot.resources[path]
    trimmed = text.removesuffix("\n")
    wanted = (text,) if strict else (trimmed, trimmed + "\n")
    return _read.verdict(
        "file_equals",
        any(recorded.same(value, each) for each in wanted),
        f"{path} holds the text",
        f"{path} holds {_read.shown(value)}, not {_read.shown(text)}",
        seq,
    )
