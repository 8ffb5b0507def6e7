from __future__ import annotations

from forge_chaos.graders.answer_contains import answer_contains
from tests.traces import finished, started, trace

RUN = trace(started(), finished("The total is 12.\nDONE"))


def test_text_that_is_there() -> None:
    assert answer_contains(RUN, text="total IS 12").truth == "pass"


def test_case_can_matter() -> None:
    assert answer_contains(RUN, text="total IS 12", ignore_case=False).truth == "fail"


def test_text_that_is_not_there() -> None:
    assert answer_contains(RUN, text="13").truth == "fail"


def test_evidence_is_the_end() -> None:
    assert answer_contains(RUN, text="12").evidence == (1,)


def test_unknown_without_an_end() -> None:
    assert answer_contains(trace(started()), text="12").truth == "unknown"
