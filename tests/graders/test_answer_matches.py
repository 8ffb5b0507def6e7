from __future__ import annotations

from forge_chaos.graders.answer_matches import answer_matches
from tests.traces import finished, started, trace

RUN = trace(started(), finished("total: 12\nDONE"))


def test_a_pattern_of_one_line() -> None:
    assert answer_matches(RUN, pattern=r"^total: \d+$").truth == "pass"
    assert answer_matches(RUN, pattern=r"^\d+$").truth == "fail"


def test_unknown_without_an_end() -> None:
    assert answer_matches(trace(started()), pattern="").truth == "unknown"
