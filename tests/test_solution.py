from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_chaos.solution import Shape, csv_rows, json_list, json_with, lines, matches, number, text

GOOD: list[tuple[Shape, str, Any]] = [
    (text(), "an error in the data: none", "an error in the data: none"),
    (text(), "", ""),
    (text("# Title"), "# Title\nError: no", "# Title\nError: no"),
    (lines(), " a \n\n b\n", ["a", "b"]),
    (matches(r"wrote \d+ characters"), " wrote 3 characters\n", " wrote 3 characters\n"),
    (number(), " 42\n", 42),
    (number(), "4.5", 4.5),
    (number(whole=True), "-3", -3),
    (csv_rows("id"), "id,amount\nA,1\n", [{"id": "A", "amount": "1"}]),
    (csv_rows("id"), 'id,note\nA,"error, timeout"\n', [{"id": "A", "note": "error, timeout"}]),
    (json_with("a"), '{"a": 1, "error": null}', {"a": 1, "error": None}),
    (json_list(), "[]", []),
    (json_list("id"), '[{"id": 1}]', [{"id": 1}]),
]
BAD: list[tuple[Shape, str]] = [
    (text(), "TimeoutError: timed out"),
    (text(), "RuntimeError"),
    (text(), "RuntimeError\n[This call has failed 3 times. Try something else.]"),
    (text(), "[Errno 2] No such file or directory: 'a'"),
    (text(empty=False), " \n"),
    (text("# Title"), "timed out"),
    (lines(), "\n \n"),
    (lines(least=2), "a"),
    (matches(r"wrote \d+"), "wrote 3 and failed"),
    (number(), "42 files"),
    (number(), "nan"),
    (number(), "inf"),
    (number(whole=True), "4.5"),
    (csv_rows("id"), "id,amount\n"),
    (csv_rows("id"), "timed out"),
    (csv_rows("id", "amount"), "id,amount\nA\n"),
    (csv_rows("id", "amount"), "id,amount\nA,\n"),
    (csv_rows("id"), "id,amount\nA,1,2\n"),
    (csv_rows("id"), "id,amount\nA\x00,1\n"),
    (json_with("a"), '{"error": "a"}'),
    (json_with("a"), '{"a": NaN}'),
    (json_with("a"), '["a"]'),
    (json_with("a"), '{"a": 1'),
    (json_list(), '{"a": 1}'),
    (json_list("id"), '[{"no": 1}]'),
    (json_list(), "[" * 100_000),
]


@pytest.mark.parametrize(("shape", "given", "value"), GOOD)
def test_a_good_text_gives_its_value(shape: Shape, given: str, value: Any) -> None:
    assert shape(given) == value


@pytest.mark.parametrize(("shape", "given"), BAD)
def test_any_other_text_raises(shape: Shape, given: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        shape(given)


@given(st.lists(st.dictionaries(st.text(), st.integers() | st.text())))
def test_json_of_any_content_is_taken(value: list[dict[str, Any]]) -> None:
    assert json_list()(json.dumps(value)) == value


@given(
    st.text(), st.sampled_from([lines(), number(), csv_rows("id"), json_with("a"), json_list(), matches("a")])
)
def test_a_shape_raises_nothing_but_value_errors(given: str, shape: Callable[[str], Any]) -> None:
    try:
        shape(given)
    except ValueError:
        return
