from __future__ import annotations

import pytest

from forge_chaos.modelserver.listing import find, holds
from forge_chaos.modelserver.view import ToolCall
from tests.modelserver import small

RECORDS = {
    one.name: one
    for one in (
        small.spec("get_record", ["read"], "table id", target="id"),
        small.spec("list_records", ["read"], "table", target="table"),
    )
}


def test_the_parent_folder_is_listed() -> None:
    assert find(ToolCall("read_file", {"path": "in/a.csv"}), small.SPECS) == (
        ToolCall("list_files", {"path": "in"}),
        "a.csv",
    )
    assert find(ToolCall("read_file", {"path": "a.csv"}), small.SPECS) == (
        ToolCall("list_files", {"path": "."}),
        "a.csv",
    )


def test_the_table_is_listed() -> None:
    found = find(ToolCall("get_record", {"table": "orders", "id": "O1"}), RECORDS)
    assert found == (ToolCall("list_records", {"table": "orders"}), "O1")


@pytest.mark.parametrize(
    "call", [ToolCall("read_file", {"path": "."}), ToolCall("job", {"id": "a"}), ToolCall("unknown", {})]
)
def test_what_stands_in_no_folder_is_not_looked_for(call: ToolCall) -> None:
    assert find(call, small.SPECS) is None


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ('["a.csv", "in/"]', True),
        ('["b.csv"]', False),
        ("[]", False),
        ("a.csv\nb.csv", True),
        ("b.csv", False),
        ('[{"id": "a.csv", "n": 1}]', True),
        ('{"entries": ["sub/a.csv"]}', True),
        ('["a.c', None),
        ("<html>", None),
        ("An error occurred", None),
        ("3", None),
    ],
)
def test_a_listing_says_whether_a_name_is_there(text: str, there: bool | None) -> None:
    assert holds(text, "a.csv") is there


def test_a_folder_is_named_with_or_without_its_slash() -> None:
    assert holds('["in/"]', "in") is True
