"""interfere: a line more by another hand, once the agent has read."""

from __future__ import annotations

from random import Random

import pytest

from forge_chaos.mechanisms.interfere import interfere
from forge_chaos.nouns import Err, Ok

from .env import Answers, Files, Trial, call, run

READ = call("read_file", path="notes.txt")


def test_the_agent_reads_what_was_and_a_line_is_added_behind_its_back() -> None:
    files = Files({"notes.txt": "# notes\na\n-- end --\n"})
    trial = Trial(world=files.world)
    assert run(interfere(READ, files.tools["read_file"], trial)) == Ok("# notes\na\n-- end --\n")
    (fired,) = trial.fired
    added = fired["line"]
    assert added.startswith("added by another hand ")
    assert files.workspace.read("notes.txt").decode() == f"# notes\na\n{added}\n-- end --\n"
    assert fired["changed"] == ["notes.txt"]
    assert files.workspace.touched() == ()


def test_a_file_that_ends_without_a_line_end_keeps_its_last_line() -> None:
    files = Files({"notes.txt": "a\nb"})
    run(interfere(READ, files.tools["read_file"], Trial(world=files.world), line="x"))
    assert files.workspace.read("notes.txt").decode().split("\n")[::2] == ["a", "b"]


def test_each_change_is_another_one() -> None:
    files = Files({"notes.txt": "a\nb\n"})
    for seed in (1, 2):
        run(interfere(READ, files.tools["read_file"], Trial(world=files.world, rng=Random(seed))))
    assert len(set(files.workspace.read("notes.txt").decode().splitlines())) == 4


@pytest.mark.parametrize(
    "contents", [{"notes.txt": "one line\n"}, {"notes.txt": ""}, {"other.txt": "a\nb\n"}]
)
def test_what_fails_or_has_not_two_lines_is_left_alone(contents: dict[str, str]) -> None:
    files = Files(contents)
    trial = Trial(world=files.world)
    run(interfere(READ, files.tools["read_file"], trial))
    assert trial.fired == []
    assert files.workspace.diff() == {}


def test_a_read_outside_every_workspace_is_left_alone() -> None:
    trial = Trial()
    assert run(interfere(READ, Answers("a\nb\n"), trial)) == Ok("a\nb\n")
    assert run(interfere(READ, Answers(Err("io", "x")), trial)) == Err("io", "x")
    assert trial.fired == []
