from __future__ import annotations

import pytest

from forge_chaos.graders.answer_equals import answer_equals
from tests.traces import finished, started, trace


def truth(answer: str, text: str, ignore_case: bool = False) -> str:
    return answer_equals(trace(started(), finished(answer)), text=text, ignore_case=ignore_case).truth


@pytest.mark.parametrize("answer", ["42", " 42\n", "42\nDONE", "42\n\n**DONE**", "42\nFAILED: no tool"])
def test_white_space_and_the_claim_do_not_matter(answer: str) -> None:
    assert truth(answer, "42") == "pass"


@pytest.mark.parametrize("answer", ["", "420", "It is 42", "42\nthe end"])
def test_anything_else_does(answer: str) -> None:
    assert truth(answer, "42") == "fail"


def test_the_claim_itself_can_be_the_answer() -> None:
    assert truth("DONE", "DONE") == "pass"


def test_case() -> None:
    assert truth("Yes", "yes") == "fail"
    assert truth("Yes", "yes", ignore_case=True) == "pass"


def test_unknown_without_an_end() -> None:
    assert answer_equals(trace(started()), text="").truth == "unknown"
