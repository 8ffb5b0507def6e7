"""Is the answer exactly this?"""

from __future__ import annotations

from forge_chaos.events import Trace
from forge_chaos.graders import _read
from forge_chaos.verdict import Verdict


def answer_equals(trace: Trace, *, text: str, ignore_case: bool = False) -> Verdict:
    """The final answer is `text`, white space round it apart.

    A last line that claims DONE or FAILED belongs to the reply contract and is left out, unless the
    answer is only that.
    """
    found = _read.answer(trace)
    if found is None:
        return _read.unknown("answer_equals", "the run has no end")
    seq, answer = found
    given = (answer.strip(), _read.body(answer))
    wanted = text.strip()
    if ignore_case:
        given, wanted = (given[0].casefold(), given[1].casefold()), wanted.casefold()
    return _read.verdict(
        "answer_equals",
        wanted in given,
        "the answer is that text",
        f"the answer is {_read.shown(answer)}, not {_read.shown(text)}",
        seq,
    )
