from __future__ import annotations

from forge_chaos.events import Noted
from forge_chaos.graders.check_command import check_command
from tests.traces import finished, started, trace


def truth(exit: int | None, command: str | list[str] = "python -m unittest test_a.py") -> str:
    note = Noted("check_command", {"command": "python -m unittest test_a.py", "exit": exit, "output": "F\n"})
    return check_command(trace(started(), finished(), note), command=command).truth


def test_exit_zero_passes() -> None:
    assert truth(0) == "pass"
    assert truth(0, ["python", "-m", "unittest", "test_a.py"]) == "pass"


def test_the_last_line_of_its_output_tells_why() -> None:
    note = Noted("check_command", {"command": "t", "exit": 1, "output": "a\n  2 failed \n\n"})
    assert check_command(trace(note), command="t").why == "the check exited with 1: 2 failed"


def test_any_other_exit_fails() -> None:
    assert truth(1) == "fail"
    assert truth(None) == "fail"


def test_unknown_when_that_command_was_not_run() -> None:
    assert truth(0, "true") == "unknown"
    assert check_command(trace(started()), command="true").truth == "unknown"
