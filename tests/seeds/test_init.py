"""Sources together: names are unique, and chosen by globs or as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge_chaos import seeds
from forge_chaos.errors import Misuse


def tasks(path: Path, *names: str) -> str:
    path.write_text("\n".join(f'{{"name": "{name}", "input": "Go.", "expected": "x"}}' for name in names))
    return str(path)


def test_sources_are_gathered_in_their_order(tmp_path: Path) -> None:
    one, two = tasks(tmp_path / "1.jsonl", "b"), tasks(tmp_path / "2.jsonl", "a")
    assert list(seeds.by_name(seeds.gather([one, two]).scenarios)) == ["b", "a"]
    with pytest.raises(Misuse, match="two scenarios are called 'b'"):
        seeds.gather([one, one])


def test_names_are_chosen_by_globs_or_as_they_are(tmp_path: Path) -> None:
    source = tasks(tmp_path / "x", "add, then [check]", "add two", "subtract")
    known = seeds.by_name(seeds.load(source))
    assert seeds.choose("*", known) == ("add, then [check]", "add two", "subtract")
    assert seeds.choose("subtract, add t*", known) == ("add two", "subtract")
    assert seeds.choose("add, then [check]", known) == ("add, then [check]",)
    with pytest.raises(Misuse, match=r"no scenario 'subtrakt'\. Did you mean 'subtract'"):
        seeds.choose("subtrakt", known)


def test_a_file_whose_name_holds_a_colon_is_a_file(tmp_path: Path) -> None:
    assert [s.name for s in seeds.load(tasks(tmp_path / "my:tasks.json", "a"))] == ["a"]


def test_a_source_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tasks(tmp_path / "t.json", "a")
    (tmp_path / "m.py").write_text("")
    assert seeds.absolute("t.json") == f"{tmp_path}/t.json"
    assert seeds.absolute("m.py:x") == f"{tmp_path}/m.py:x"
    assert seeds.absolute("pack.mod:x") == "pack.mod:x"
