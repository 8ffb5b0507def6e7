"""`new` writes what runs, and `--tasks` runs what other systems and Python wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.door import Done, door, program, write

AGENT = """
from forge_chaos import Scenario

own = Scenario("own", "Note the version.", files={"app.toml": "v = '3'"}, full={"grader": "file_exists", "path": "v.txt"})


async def agent(task, tools):
    try:
        text = await tools.call("read_file", {"path": "app.toml"})
        await tools.call("write_file", {"path": "v.txt", "text": text.split("'")[1]})
    except Exception as error:
        return f"FAILED: {error}"
    return text + "\\nDONE"
"""
TASKS = [
    {
        "name": "known",
        "input": "Say the version.",
        "expected": "3",
        "rubric": "short",
        "files": {"app.toml": "v = '3'"},
    },
    {"name": "lost", "input": "Say the version.", "expected": "3"},
    {"name": "kind", "input": "Be kind.", "rubric": "It is kind."},
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return write(tmp_path, {"mine.py": AGENT, "tasks.json": json.dumps(TASKS), "start/app.toml": "v = '3'"})


def test_tasks_of_a_file_are_run_and_what_is_not_graded_is_said(home: Path) -> None:
    done = program(
        home,
        "run",
        "--tasks",
        "tasks.json",
        "--agent",
        "mine.py:agent",
        "--faults",
        "timeout.raises",
        "--json",
    )
    assert done.code == 1
    assert done.result["clean"] == {"passed": 1, "of": 2}
    assert {s["scenario"]: s["why"].split(":")[0] for s in done.result["skipped"]}.keys() == {"kind", "lost"}
    assert {failure["scenario"] for failure in done.result["failures"]} == {"known"}
    assert "known: its rubric needs a judge model and is not graded" in done.err
    again = program(home, *done.result["failures"][0]["replay"].split()[1:])
    assert (again.code, "The trace is equal to the stored one." in again.out) == (1, True)


def test_tasks_written_in_python_are_run(home: Path) -> None:
    done = program(
        home,
        "run",
        "--tasks",
        "mine.py:own",
        "--agent",
        "mine.py:agent",
        "--plan",
        "timeout.raises@1..:read_file",
        "--json",
    )
    assert (done.code, done.result["classes"][0]["fired"], done.result["failures"]) == (0, 1, [])


def test_a_run_as_transcripts(home: Path) -> None:
    program(
        home,
        "run",
        "--tasks",
        "mine.py:own",
        "--agent",
        "mine.py:agent",
        "--plan",
        "timeout.raises:read_file",
        "--out",
        "r",
    )
    shown = json.loads(door(home, "report", "r", "--as", "transcript").out)
    assert [case["case_id"] for case in shown] == ["own", "own [timeout.raises:read_file]"]
    assert [row["tool"] for row in shown[0]["trace"]] == ["read_file", "write_file"]


def test_what_cannot_be_loaded_is_misuse(home: Path) -> None:
    def told(*words: str) -> str:
        done = door(home, "run", *words)
        assert done.code == 4
        return done.err

    assert "cannot be read: No such file" in told("--tasks", "gone.json")
    assert "no scenario 'knwon'. Did you mean 'known'?" in told(
        "--tasks", "tasks.json", "--scenarios", "knwon"
    )
    assert "two scenarios are called 'known'" in told("--tasks", "tasks.json", "--tasks", "tasks.json")


def tried(home: Path, made: Done, *more: str) -> Done:
    """What `new` says how to try it, tried."""
    assert made.code == 0, made.err
    return program(home, *made.out.splitlines()[-1].removeprefix("Try it: forge-chaos ").split(), *more)


def test_a_new_scenario_and_a_new_fault_are_tried_as_they_say(home: Path) -> None:
    assert tried(home, door(home, "new", "scenario", "double"), "--faults", "missing_file,timeout").code == 0
    fault = tried(home, door(home, "new", "fault", "down", "--in", "my_faults"), "--scenarios", "sum_orders")
    assert fault.code == 0
    assert door(home, "new", "fault", "down", "--in", "my_faults").code == 4


def test_a_recorded_scenario_is_what_the_agent_did(home: Path) -> None:
    words = (
        "new",
        "scenario",
        "noted",
        "--from",
        "mine.py:agent",
        "--prompt",
        "Note the version.",
        "--files",
        "start",
    )
    assert (
        tried(home, door(home, *words), "--faults", "missing_file.never").code == 1
    )  # it does not try again
    text = (home / "scenarios" / "noted" / "scenario.toml").read_text()
    assert 'path   = "v.txt"\ntext   = "3"' in text
    assert (home / "scenarios" / "noted" / "files" / "app.toml").read_text() == "v = '3'"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("scenari", "x"), "Did you mean 'scenario'?"),
        (("scenario", "X"), "must be made of a-z, 0-9 and _"),
        (("scenario", "x", "--from", "mine.py:agent"), "--from records a scenario"),
        (("scenario", "x", "--prompt", "p"), "belong to --from"),
        (("scenario", "x", "--from", "mine.py:agent", "--prompt", "p"), "did not go well"),
        (
            ("scenario", "x", "--from", "mine.py:agent", "--prompt", "p", "--files", "gone"),
            "there is no such folder",
        ),
    ],
)
def test_what_cannot_be_made_is_misuse(home: Path, words: tuple[str, ...], said: str) -> None:
    done = door(home, "new", *words)
    assert (done.code, said in done.err) == (4, True), done.err
    assert not (home / "scenarios").exists()
