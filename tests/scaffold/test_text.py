"""Any text comes back from the TOML and the template that it was written as."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forge_chaos import template
from forge_chaos.scaffold.text import array, toml, untemplated

TEXTS = st.text(
    st.one_of(st.sampled_from("{}%#\r\n\"'\\\t\x00\x7f"), st.characters(exclude_categories=["Cs"]))
)


@given(TEXTS)
@example('{{{%{#}}"""')
@example('a\n""""')
@example('ends with "\n"')
@example("{\r\n\r")
@example("\\u0041")
def test_a_text_comes_back(text: str) -> None:
    back = tomllib.loads(f"a = {toml(untemplated(text))}")["a"]
    assert template.filled(back, {}, "here") == text


@pytest.mark.parametrize("text", ['{"a": [1]}', "plain", "a\nb\n"])
def test_what_needs_no_escape_is_left_readable(text: str) -> None:
    assert untemplated(text) == text
    assert toml("a\nb\n") == '"""\na\nb\n"""'


def test_a_list_comes_back() -> None:
    assert tomllib.loads(f"a = {array(['x', 'a]b', ''])}")["a"] == ["x", "a]b", ""]
