"""replace: something else in place of the answer."""

from __future__ import annotations

from forge_chaos.mechanisms.replace import replace
from forge_chaos.nouns import Err, Ok

from .env import Answers, Files, Trial, call, run


def test_the_tool_runs_and_its_answer_is_lost() -> None:
    tool, trial = Answers("data"), Trial("<html>502</html>")
    assert run(replace(call("read_file", path="a"), tool, trial)) == Ok("<html>502</html>")
    assert tool.ran == 1
    assert trial.fired == [{"changed": [], "executed": True}]


def test_an_error_of_the_tool_itself_is_left_alone() -> None:
    failed, trial = Err("io", "broken"), Trial("<html>")
    assert run(replace(call("read_file", path="a"), Answers(failed), trial)) is failed
    assert trial.fired == []


def test_without_executing_nothing_happens_and_the_value_is_json() -> None:
    files = Files({"a.txt": "1"})
    trial = Trial("unused", files.world)
    asked = call("write_file", path="a.txt", text="2")
    result = run(replace(asked, files.tools["write_file"], trial, executes=False, value={"ok": False}))
    assert result == Ok('{"ok": false}')
    assert files.workspace.read("a.txt") == b"1"
    assert files.ran == []
    assert trial.fired == [{"changed": [], "executed": False}]
