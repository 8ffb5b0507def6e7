from __future__ import annotations

import pytest

from forge_chaos.errors import Broken
from forge_chaos.events import Trace
from forge_chaos.graders.function import function
from forge_chaos.verdict import Verdict
from tests.traces import started, trace


def short(trace: Trace) -> bool:
    return len(trace) < 2


def test_true_and_false() -> None:
    assert function(trace(started()), call=short) == Verdict("short", "pass", "short returned True")
    assert function(trace(started(), started()), call=short).truth == "fail"


def test_a_verdict_is_taken_as_it_is() -> None:
    mine = Verdict("mine", "unknown", "who knows", (3,))
    assert function(trace(started()), call=lambda _: mine) is mine


def test_nothing_else_is_taken_for_a_pass() -> None:
    with pytest.raises(Broken, match="returned 'yes'"):
        function(trace(started()), call=lambda _: "yes")
