"""Does the answer not say this?"""

from __future__ import annotations

from forge_chaos.events import Trace
from forge_chaos.graders import _read
from forge_chaos.verdict import Verdict


def answer_lacks(trace: Trace, *, text: str, ignore_case: bool = True) -> Verdict:
    """`text` does not stand in the final answer."""
    found = _read.answer(trace)
    if found is None:
        return _read.unknown("answer_lacks", "the run has no end")
    seq, answer = found
    there = text.casefold() in answer.casefold() if ignore_case else text in answer
    return _read.verdict(
        "answer_lacks",
        not there,
        f"the answer lacks {_read.shown(text)}",
        f"the answer holds {_read.shown(text)}: {_read.shown(answer)}",
        seq,
    )
