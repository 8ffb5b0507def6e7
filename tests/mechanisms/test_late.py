"""late: the right answer after the caller has stopped waiting."""

from __future__ import annotations

from forge_chaos.mechanisms.late import late
from forge_chaos.nouns import Err, Ok

from .env import Answers, Files, Trial, call, run, spec


def test_the_tool_runs_at_once_and_the_true_answer_comes_after_its_limit() -> None:
    files = Files({"a.txt": "1"})
    trial = Trial(world=files.world, spec=spec("write_file", limit=10.0))
    seen: list[bytes] = []
    sleep = trial.sleep

    async def watching(seconds: float) -> None:
        seen.append(files.workspace.read("a.txt"))
        await sleep(seconds)

    trial.sleep = watching  # type: ignore[method-assign]  # to look at the world while the reply is held back
    asked = call("write_file", path="a.txt", text="2")
    assert run(late(asked, files.tools["write_file"], trial)) == Ok("wrote 1 characters to a.txt")
    assert seen == [b"2"]
    assert trial.slept == [20.0]
    assert trial.fired == [{"changed": [], "seconds": 20.0}]


def test_a_tool_without_a_limit_is_late_by_the_usual_one_and_errors_are_late_too() -> None:
    trial = Trial()
    failed = Err("io", "Input/output error")
    assert run(late(call("read_file", path="a"), Answers(failed), trial, times=3)) == failed
    assert trial.slept == [90.0]
