"""Does a file hold this value as JSON?"""

from __future__ import annotations

import json
from typing import Any

from forge_chaos.events import Trace
from forge_chaos.graders import _read
from forge_chaos.verdict import Verdict


def file_json(trace: Trace, *, path: str, value: Any) -> Verdict:
    """The file at `path` is JSON and equals `value`: order of keys, white space and 1 against 1.0 do not matter."""
    world = _read.world(trace)
    if world is None:
        return _read.unknown("file_json")
    seq, snapshot = world
    path = _read.clean(path)
    if path not in snapshot.resources:
        return Verdict("file_json", "fail", f"{path} does not exist", (seq,))
    text = _read.whole(snapshot.resources[path])
    if text is None:
        return _read.unknown("file_json", f"{path} is not kept whole as text", seq)
    try:
        found = json.loads(text)
    except ValueError as error:
        return Verdict("file_json", "fail", f"{path} is not JSON: {error}", (seq,))
    return _read.verdict(
        "file_json",
        _read.same_json(found, value),
        f"{path} holds the value",
        f"{path} holds {_read.shown(found)}, not {_read.shown(value)}",
        seq,
    )
