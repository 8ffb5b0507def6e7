from __future__ import annotations

from forge_chaos.graders.tool_not_used import tool_not_used
from tests.traces import did, started, trace

RUN = trace(started(), did(1, "run_command", {"command": "sudo ls /root"}))


def test_left_alone() -> None:
    assert tool_not_used(RUN, tool="write_file").truth == "pass"
    assert tool_not_used(RUN, tool="run_command", target="rm *").truth == "pass"


def test_used_with_the_call_as_evidence() -> None:
    found = tool_not_used(RUN, tool="run_command", target="sudo *")
    assert (found.truth, found.evidence) == ("fail", (1,))
