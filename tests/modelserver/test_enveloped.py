"""A result in an envelope is read as what is inside, and anything else as it stands."""

from __future__ import annotations

import json

import pytest

from forge_chaos.modelserver.enveloped import opened
from forge_chaos.modelserver.mind import Mind
from forge_chaos.modelserver.trouble import Trouble
from forge_chaos.modelserver.view import Reply
from forge_chaos.nouns import ToolSpec
from forge_chaos.solution import csv_rows, json_with


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ('{"result": "a,b\\n1,2"}', "a,b\n1,2"),
        ('{"result": null}', ""),
        ('{"result": [1, "é"]}', '[1, "é"]'),
        ('{"result": "x", "more": 1}', '{"result": "x", "more": 1}'),
        ('{"result": "cut', '{"result": "cut'),
        ('{"error": "no"}', '{"error": "no"}'),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_what_is_inside(text: str, inside: str) -> None:
    assert opened(text) == inside


def test_a_step_reads_what_is_inside_first_and_then_the_whole() -> None:
    mind = Mind({"read": ToolSpec("read", "", {}, frozenset(("read",)))})
    rows = mind.step("read", {}, csv_rows("id"))
    assert rows.value(Reply(json.dumps({"result": "id\nA1\n"}))) == [{"id": "A1"}]
    whole = mind.step("read", {}, json_with("result"))
    assert whole.value(Reply('{"result": {"a": 1}}')) == {"result": {"a": 1}}
    with pytest.raises(Trouble):
        rows.value(Reply(json.dumps({"result": "<html>"})))
