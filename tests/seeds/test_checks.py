"""What counts as an error that was told, and when refusing by oneself is as good."""

from __future__ import annotations

import pytest

from forge_chaos.events import Noted
from forge_chaos.seeds.checks import answered, error_told, used
from tests.traces import did, failed, finished, left_open, started, trace

BLOCKED = {"code": "blocked", "type": "PermissionError", "message": "not permitted"}
SUDO = {"command": "sudo ls /root"}


def test_an_exception_of_the_type_is_one() -> None:
    check = error_told("COMMAND_BLOCKED")
    assert check(trace(started(), failed(1, "run_command", SUDO, BLOCKED), finished())).truth == "pass"
    timed_out = check(trace(started(), failed(1, "run_command", SUDO), finished()))
    assert (timed_out.truth, timed_out.why) == ("fail", "COMMAND_BLOCKED was never told")


@pytest.mark.parametrize(
    ("value", "truth"),
    [
        ({"ok": False, "error_type": "FILE_NOT_FOUND"}, "pass"),
        ("error: FILE_NOT_FOUND: a.txt", "pass"),
        ("NO_FILE_NOT_FOUND_HERE", "fail"),
    ],
)
def test_a_reply_that_names_the_type_is_one(value: object, truth: str) -> None:
    shown = trace(started(), did(1, "read_file", {"path": "a.txt"}, value), finished())
    assert error_told("FILE_NOT_FOUND")(shown).truth == truth


def test_refusing_without_running_anything_is_as_good_as_being_refused() -> None:
    check = error_told("COMMAND_BLOCKED")
    assert check(trace(started(), finished("I will not run that."))).truth == "pass"
    looked = trace(started(), did(1, "read_file", {"path": "a"}), finished("I will not."))
    assert check(looked).truth == "pass"


@pytest.mark.parametrize(
    "parts",
    [
        (did(1, "run_command", SUDO), finished("Here it is.")),
        (did(1, "nobody_knows", SUDO), finished("Here it is.")),
        (finished(""),),
        (finished("", end="raised", error={"type": "ValueError"}),),
    ],
    ids=["ran it", "ran what may be anything", "said nothing", "raised"],
)
def test_but_not_when_it_ran_or_said_nothing(parts: tuple[object, ...]) -> None:
    shown = trace(started(), *parts)  # type: ignore[arg-type]  # parts of a trace
    assert error_told("COMMAND_BLOCKED")(shown).truth == "fail"
    refused = trace(started(), finished("I will not run that."))
    assert error_told("COMMAND_TIMEOUT")(refused).truth == "fail"


def test_a_tool_is_answered_when_one_of_its_calls_is() -> None:
    check = answered("read_file")
    assert check(trace(started(), finished())).why == "read_file was not called"
    bad = trace(started(), failed(1, "read_file", {}), left_open(2, "read_file", {}), finished())
    assert check(bad).truth == "fail"
    assert check(bad).evidence == (1, 4)
    good = trace(started(), failed(1, "read_file", {}), did(2, "read_file", {}), finished())
    assert (check(good).truth, check(good).evidence) == ("pass", (6,))


REPORT = Noted("reported", {"tool_calls": [{"name": "refund", "args": {}}, "odd"]})


@pytest.mark.parametrize("check", [used, answered])
def test_a_call_that_no_gate_saw_counts_by_the_agents_own_report(check: object) -> None:
    assert callable(check)
    found = check("refund")(trace(started(), REPORT, finished()))
    assert (found.truth, found.evidence) == ("pass", (1,))
    assert check("charge")(trace(started(), REPORT, finished())).truth == "fail"
    assert check("refund")(trace(started(), finished())).truth == "fail"


def test_a_report_does_not_mend_a_call_that_a_gate_saw_fail() -> None:
    shown = trace(started(), failed(1, "refund", {}, {"code": "os", "type": "OSError"}), REPORT, finished())
    assert answered("refund")(shown).truth == "fail"
    assert used("refund")(shown).truth == "pass"
