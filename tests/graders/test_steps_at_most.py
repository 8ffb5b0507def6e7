from __future__ import annotations

from forge_chaos.graders.steps_at_most import steps_at_most
from tests.traces import did, failed, started, trace

RUN = trace(started(), did(1, "read_file", {"path": "a"}), failed(2, "read_file", {"path": "a"}))


def test_as_many_or_fewer() -> None:
    assert steps_at_most(RUN, n=2).truth == "pass"
    assert steps_at_most(trace(started()), n=0).truth == "pass"


def test_more_with_the_first_call_too_many() -> None:
    found = steps_at_most(RUN, n=1)
    assert (found.truth, found.evidence) == ("fail", (4,))
