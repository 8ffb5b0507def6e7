"""Every key has its line, and every complaint names it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from forge_chaos import tomlfile
from forge_chaos.errors import Misuse

TEXT = b'''# a comment
name = "x"
note = """
inside = "no key"
[[no.table]]
"""
[limits]           # table
steps = 3
deep.er = 1

[[rows]]
id = "a"
[rows.params]
n = 1

[[rows]]
id = "b"
"odd key" = 2
params = { n = 2 }
'''


@pytest.mark.parametrize(
    ("loc", "line"),
    [
        (("name",), 2),
        (("note",), 3),
        (("limits",), 7),
        (("limits", "steps"), 8),
        (("limits", "deep", "er"), 9),
        (("rows", 0), 11),
        (("rows", 0, "id"), 12),
        (("rows", 0, "params", "n"), 14),
        (("rows", 1, "id"), 17),
        (("rows", 1, "odd key"), 18),
        (("rows", 1, "params", "n"), 19),  # inside an inline table: the key that holds it
        (("rows", 1, "gone"), 16),
        (("inside",), 1),
        ((), 1),
    ],
)
def test_each_key_is_found_at_its_line(loc: tuple[str | int, ...], line: int) -> None:
    document = tomlfile.parse(Path("f.toml"), TEXT)
    assert document.where(*loc) == f"f.toml:{line}"


def test_a_table_is_a_document_of_its_own() -> None:
    limits = tomlfile.parse(Path("f.toml"), TEXT).below("limits")
    assert limits.data == {"steps": 3, "deep": {"er": 1}}
    assert limits.where("steps") == "f.toml:8"
    assert limits.where("nothing") == "f.toml:7"
    assert tomlfile.parse(Path("f.toml"), TEXT).below("no", "such").data == {}


class Row(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: str
    count: int = 0


class Whole(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    rows: list[Row] = []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('nam = "x"', "f.toml:1: no key 'nam'. Did you mean 'name'? Known: name, rows."),
        (
            'name = "x"\n[[rows]]\nid = "a"\ncuont = 2',
            "f.toml:4: no key 'cuont'. Did you mean 'count'? Known: count, id.",
        ),
        ('name = "x"\n[[rows]]\ncount = 1', "f.toml:2: key 'rows.0.id' is missing. Keys: count, id."),
        (
            'name = "x"\n[[rows]]\nid = "a"\ncount = "many"',
            "f.toml:4: key 'rows.0.count': Input should be a valid integer",
        ),
        ("rows = []", "f.toml:1: key 'name' is missing. Keys: name, rows."),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, said: str) -> None:
    with pytest.raises(Misuse) as caught:
        tomlfile.checked(tomlfile.parse(Path("f.toml"), text.encode()), Whole)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a = 1\nb = \n", "f.toml:2: bad TOML: Invalid value."),
        (b"a = 1\nb = [1,\n", "f.toml:3: bad TOML:"),
        (b"a = 1\nb = '\xff'", "f.toml:2: is no UTF-8 text"),
    ],
)
def test_what_is_no_toml_is_told_with_its_line(content: bytes, said: str) -> None:
    with pytest.raises(Misuse) as caught:
        tomlfile.parse(Path("f.toml"), content)
    assert str(caught.value).startswith(said)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"gone\.toml: cannot be read: No such file or directory\."):
        tomlfile.read(tmp_path / "gone.toml")
