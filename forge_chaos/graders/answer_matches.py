"""Does the answer match a pattern?"""

from __future__ import annotations

import re

from forge_chaos.events import Trace
from forge_chaos.graders import _read
from forge_chaos.verdict import Verdict


def answer_matches(trace: Trace, *, pattern: str) -> Verdict:
    """The regular expression is found somewhere in the final answer; `^` and `$` are its lines' ends."""
    found = _read.answer(trace)
    if found is None:
        return _read.unknown("answer_matches", "the run has no end")
    seq, answer = found
    return _read.verdict(
        "answer_matches",
        re.search(pattern, answer, re.M) is not None,
        f"the answer matches {pattern!r}",
        f"the answer does not match {pattern!r}: {_read.shown(answer)}",
        seq,
    )
