"""_reply: which answers have a text and a structure that can be spoilt."""

from __future__ import annotations

import datetime

import pytest

from forge_chaos.mechanisms._reply import structure_of, text_of
from forge_chaos.nouns import Err, Ok


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (Ok("as it is\n"), "as it is\n"),
        (Ok({"ü": [1, None]}), '{"ü": [1, null]}'),
        (Ok([]), "[]"),
        (Ok({"on": datetime.date(2024, 1, 1)}), None),
        (Ok(b"bytes"), None),
        (Ok(3), None),
        (Ok(None), None),
        (Err("io", "Input/output error"), None),
    ],
)
def test_text_of(result: Ok | Err, text: str | None) -> None:
    assert text_of(result) == text


@pytest.mark.parametrize("text", ["", "word", "12", "null", '"text"', '{"a":', "[" * 100_000])
def test_structure_of_is_none_where_there_is_no_object_and_no_list(text: str) -> None:
    assert structure_of(Ok(text)) is None


def test_structure_of_is_a_copy() -> None:
    own = {"a": [1]}
    found = structure_of(Ok(own))
    assert found == own
    assert isinstance(found, dict)
    assert found["a"] is not own["a"]
