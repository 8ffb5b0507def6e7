from __future__ import annotations

from forge_chaos.graders.answer_lacks import answer_lacks
from tests.traces import finished, started, trace

RUN = trace(started(), finished("The total is 12.\nDONE"))


def test_text_that_is_there() -> None:
    assert answer_lacks(RUN, text="total IS 12").truth == "fail"


def test_case_can_matter() -> None:
    assert answer_lacks(RUN, text="total IS 12", ignore_case=False).truth == "pass"


def test_text_that_is_not_there() -> None:
    assert answer_lacks(RUN, text="13").truth == "pass"


def test_evidence_is_the_end() -> None:
    assert answer_lacks(RUN, text="12").evidence == (1,)


def test_unknown_without_an_end() -> None:
    assert answer_lacks(trace(started()), text="12").truth == "unknown"
