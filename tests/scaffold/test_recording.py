"""A recorded run becomes a scenario that the same agent fulfils and that can be failed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forge_chaos import catalog, judge
from forge_chaos.errors import Misuse
from forge_chaos.events import Trace
from forge_chaos.nouns import Check, Scenario
from forge_chaos.scaffold.recording import draft, from_recording
from tests.seeds.played import judged, play
from tests.traces import did, failed, finished, snapshot, started, trace

BEFORE = {
    "notes.txt": b"one\ntwo\n",
    "old.txt": b"old",
    "page.j2": b"{{ title }}\r\n",
    "raw.bin": b"\xff",
    "__pycache__/x.pyc": b"\0",
}
PROMPT = 'Number the lines of notes.txt; write {{ "done" }} to mark.txt.\nRemove old.txt.'


async def numbers(task: Any, tools: Any) -> str:
    text = await tools.call("read_file", {"path": "notes.txt"})
    numbered = "".join(f"{n} {line}\n" for n, line in enumerate(text.splitlines(), 1))
    await tools.call("write_file", {"path": "notes.txt", "text": numbered})
    await tools.call("write_file", {"path": "mark.txt", "text": '{{ "done" }}'})
    await tools.call("delete_file", {"path": "old.txt"})
    return "Numbered 2 lines.\nDONE"


async def forgets_to_remove(task: Any, tools: Any) -> str:
    await tools.call("write_file", {"path": "notes.txt", "text": "1 one\n2 two\n"})
    await tools.call("write_file", {"path": "mark.txt", "text": '{{ "done" }}'})
    return "Numbered 2 lines.\nDONE"


def recorded(tmp_path: Path, agent: Callable[..., Any], files: dict[str, bytes] = BEFORE) -> Scenario:
    first = draft("drafted", tmp_path, PROMPT, files)
    drafted = catalog.load(first.name, 1, [tmp_path])
    from_recording(play(drafted, agent), "mine", tmp_path, files)
    return catalog.load("mine", 1, [tmp_path])


def test_what_the_run_changed_and_answered_is_the_goal(tmp_path: Path) -> None:
    made = recorded(tmp_path, numbers)
    assert made.prompt == PROMPT
    assert made.full == (
        Check("file_equals", {"path": "mark.txt", "text": '{{ "done" }}'}),
        Check("file_equals", {"path": "notes.txt", "text": "1 one\n2 two\n"}),
        Check("file_absent", {"path": "old.txt"}),
        Check("answer_contains", {"text": "Numbered 2 lines."}),
    )
    assert made.outputs == ("mark.txt", "notes.txt", "old.txt")
    assert made.files == {name: data for name, data in BEFORE.items() if "__pycache__" not in name}
    assert made.limits.steps == 12
    assert "write_file" in made.tools
    assert made.solve is None


def test_the_same_agent_fulfils_it_and_another_does_not(tmp_path: Path) -> None:
    made = recorded(tmp_path, numbers)
    assert judge.clean_pass(judged(made, numbers)[0])
    found, _ = judged(made, forgets_to_remove)
    assert (found.goal, [v.name for v in found.graders if v.truth == "fail"]) == ("wrong", ["file_absent"])


def own(before: dict[str, Any], after: dict[str, Any], answer: str = "DONE") -> Trace:
    tools = {"save": {"roles": ["write"], "target": None}, "look": {"roles": ["read"], "target": None}}
    return trace(
        started(resources=before, tools=tools, prompt="Go."),
        did(1, "save", {}),
        finished(answer),
        snapshot(after),
    )


def made(tmp_path: Path, of: Trace) -> Scenario:
    from_recording(of, "mine", tmp_path, {})
    return catalog.load("mine", 1, [tmp_path])


def test_of_an_agent_with_its_own_tools_the_roles_are_named(tmp_path: Path) -> None:
    found = made(tmp_path, own({}, {"a.txt": "x", "__pycache__/m.pyc": "y"}))
    assert (found.tools, found.roles, found.outputs) == ((), ("write",), ("a.txt",))
    assert found.full == (Check("file_equals", {"path": "a.txt", "text": "x"}),)


def test_of_a_long_file_the_last_news_is_asked_for(tmp_path: Path) -> None:
    long = "".join(f"line {n}\n" for n in range(1000))
    grown = made(tmp_path / "1", own({"log": long}, {"log": long + "new\n\n"}))
    assert grown.full == (Check("file_contains", {"path": "log", "text": "new"}),)
    shrunk = made(tmp_path / "2", own({"log": long + "bad\n"}, {"log": long}))
    assert shrunk.full == (Check("file_lacks", {"path": "log", "text": "bad"}),)


def test_of_bytes_only_that_they_are_there(tmp_path: Path) -> None:
    data = {"$type": "bytes", "$b64": "/w=="}
    assert made(tmp_path, own({}, {"x.png": data})).full == (Check("file_exists", {"path": "x.png"}),)


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (own({}, {}), "changed no file and its answer is empty or long"),
        (own({}, {}, "a\nb\nDONE"), "changed no file and its answer is empty or long"),
        (own({}, {"a": "x"}, "FAILED: no"), r"did not go well \(answered\): FAILED: no"),
        (
            trace(
                started(), failed(1, "read_file", {}), finished("", end="raised", error={"type": "OSError"})
            ),
            r"did not go well \(raised\): OSError",
        ),
        (
            trace(started(), finished("", end="stopped", why="steps"), snapshot()),
            r"did not go well \(stopped\)",
        ),
    ],
)
def test_a_run_that_shows_no_goal_writes_nothing(tmp_path: Path, of: Trace, said: str) -> None:
    with pytest.raises(Misuse, match=said):
        from_recording(of, "mine", tmp_path, {})
    assert list(tmp_path.iterdir()) == []


def test_bytes_that_are_named_like_a_template_are_told(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"x\.j2 is named like a template"):
        draft("mine", tmp_path, "Go.", {"x.j2": b"\xff"})
