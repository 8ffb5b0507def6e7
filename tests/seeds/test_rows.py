"""Each object of a file is given with the lines of its own keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge_chaos.errors import Misuse
from forge_chaos.seeds.rows import rows


def lines(tmp_path: Path, text: str) -> list[dict[tuple[str | int, ...], int]]:
    path = tmp_path / "x"
    path.write_text(text)
    return [dict(document.lines) for document in rows(path)]


def test_keys_of_an_array_have_their_lines(tmp_path: Path) -> None:
    text = '\n[ {"a": {"b": [1,\n 2]},\n\n "b":"}]"} ,\n{ } , {"c" :null}]\n'
    assert lines(tmp_path, text) == [{(): 2, ("a",): 2, ("b",): 5}, {(): 6}, {(): 6, ("c",): 6}]


def test_keys_of_lines_have_their_lines(tmp_path: Path) -> None:
    assert lines(tmp_path, '{"a": "\\n"}\r\n\r\n  {"b": 1}') == [{(): 1, ("a",): 1}, {(): 3, ("b",): 3}]


def test_one_object_may_stand_on_many_lines(tmp_path: Path) -> None:
    assert lines(tmp_path, '{\n  "a": 1,\n  "b": 2\n}\n') == [{(): 1, ("a",): 2, ("b",): 3}]


def test_a_character_that_ends_lines_only_for_python_ends_none(tmp_path: Path) -> None:
    assert lines(tmp_path, '{"a": "x\u2028y"}\n{"b": 1}') == [{(): 1, ("a",): 1}, {(): 2, ("b",): 2}]


def test_hostile_depth_is_bad_data(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("[" * 100_000)
    with pytest.raises(Misuse, match="bad JSON"):
        rows(path)
