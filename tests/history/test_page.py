"""The published result: what was played, how it ended, what convicts, and how to see it again."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

from forge_chaos.history import page
from forge_chaos.history.border import border
from forge_chaos.history.cell import Cell
from forge_chaos.history.page import Result
from forge_chaos.history.releases import Release
from forge_chaos.regression import History, Regression

STATED = History("kit", "1.0", "1.1", "recovered", reference="kit/kit PR 1")
FILES = {
    "a": Regression(Path("a.chaos.toml"), "s", ("timeout@1:read_file",), 1, note="it lies", history=STATED),
    "b": Regression(Path("b.chaos.toml"), "s", ("timeout@2:read_file",), 1),
}
BUGGY = Cell("a", "kit", "1.0", "buggy", "bad", "crashed", "It raised A | B.", ("[1] FAULT", "[2] finished"))
PAIR = (BUGGY, Cell("a", "kit", "1.1", "repaired", "good", "recovered", "The goal is reached."))
ASKED = (
    Cell("a", "kit", "1.0", "asked", "bad", "crashed"),
    Cell("b", "kit", "1.0", "asked", "control failed", None, "no"),
    Cell("a", "kit", "1.1", "asked", "good", "recovered"),
)


def result(cells: tuple[Cell, ...], *names: str, **more: tuple[str, ...]) -> Result:
    files = {name: FILES[name] for name in names}
    paths = {name: f"kept bugs/{name}.chaos.toml" for name in names}
    return Result(files, paths, cells, (), "forge-chaos history 'kept bugs'", 2, 0, **more)


def test_pairs_have_a_row_a_file() -> None:
    assert page.grid(result(PAIR, "a")) == [
        ["file", "package", "buggy", "repaired"],
        ["a", "kit", "1.0 bad (crashed)", "1.1 good (recovered)"],
    ]


def test_releases_that_are_asked_about_have_a_row_each() -> None:
    assert page.grid(result(ASKED, "a", "b")) == [
        ["release", "a", "b"],
        ["kit 1.0", "bad (crashed)", "control failed"],
        ["kit 1.1", "good (recovered)", ""],
    ]


def test_the_page_tells_of_each_file_what_convicts_and_how_to_see_it_again() -> None:
    text = page.page(result(PAIR, "a"))
    assert "Every cell was played 2 times" in text
    assert "| a | kit | 1.0 bad (crashed) | 1.1 good (recovered) |" in text
    assert "## a\n\nIt lies.\n\nTold in kit/kit PR 1.\n" in text
    assert "- plan: `timeout@1:read_file`, seed 1" in text
    assert "- kit 1.0 (buggy): bad (crashed). It raised A \\| B." in text
    assert "What convicts 1.0:\n\n```text\n[1] FAULT\n[2] finished\n```" in text
    assert "forge-chaos history 'kept bugs/a.chaos.toml' --versions 1.0\n" in text
    assert text.count("What convicts") == 1


def test_releases_that_the_same_convicts_stand_together() -> None:
    bad = [replace(BUGGY, version=version, side="asked") for version in ("1.0", "1.1", "1.2")]
    text = page.page(result((bad[0], replace(bad[1], lines=("[1] other",)), bad[2]), "a"))
    assert "What convicts 1.0, 1.2:\n\n```text\n[1] FAULT\n[2] finished\n```\n\n```sh\n" in text
    assert "--versions 1.2\n```\n\nWhat convicts 1.1:\n\n```text\n[1] other\n" in text


def test_a_border_stands_below_the_table() -> None:
    found, cells = border(
        [Release("1.0", ""), Release("1.1", "")], lambda r: ASKED[0 if r.version == "1.0" else 2]
    )
    made = Result(FILES, {"a": "a", "b": "b"}, cells, (found,), "", 1, 1)
    assert "a: the bug went in kit 1.1" in page.page(made)
    assert json.loads(page.as_json(made))["borders"][0]["found"] is True


def test_the_command_says_what_the_file_leaves_open() -> None:
    words = shlex.split(result(ASKED, "a", "b", requires=("x>=1",)).again(ASKED[1]))
    assert words[2:] == ["kept bugs/b.chaos.toml", "--versions", "1.0", "--package", "kit", "--with", "x>=1"]


def test_the_same_as_json() -> None:
    found = json.loads(page.as_json(result(PAIR, "a")))
    assert found["files"][0]["reference"] == "kit/kit PR 1"
    assert [(cell["word"], cell["side"]) for cell in found["cells"]] == [
        ("bad (crashed)", "buggy"),
        ("good (recovered)", "repaired"),
    ]
    assert (found["times"], found["exit"]) == (2, 0)
