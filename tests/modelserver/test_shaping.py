"""A last word in the form that the caller wants."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forge_chaos.modelserver.shaping import filled, refusal, shaped

STRING, NUMBER, MAYBE = {"type": "string"}, {"type": "number"}, {"type": ["string", "null"]}


def schema(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, {"answer": "x"}),
        (schema(["value"], value={}), {"value": "x"}),
        (schema(["city"], city=STRING), {"city": "x"}),
        (schema([], city=STRING, population=NUMBER), {"city": "x"}),
        (schema(["why", "answer"], why=MAYBE, answer=STRING), {"answer": "x", "why": None}),
        (schema(["a"], a={"anyOf": [NUMBER, STRING]}), {"a": "x"}),
        (schema(["a", "b"], a=STRING, b={"anyOf": [NUMBER, {"type": "null"}]}), {"a": "x", "b": None}),
        (schema(["n"], n=NUMBER), None),
        (schema(["a", "n"], a=STRING, n=NUMBER), None),
        (schema(["a"], a={"type": "string", "enum": ["p", "q"]}), None),
        (schema(["a"], a={"$ref": "#/$defs/A"}), None),
    ],
)
def test_a_text_goes_where_a_text_can_go(wanted: dict[str, Any], found: Any) -> None:
    assert filled(wanted, "x") == found


def of(wanted: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "x", "schema": wanted}}


def test_a_form_that_a_text_can_have_is_given() -> None:
    for form in (None, {"type": "text"}):
        assert refusal(form) is None
        assert shaped(form, "DONE ä") == "DONE ä"
    for form in ({"type": "json_object"}, of(schema(["answer"], answer=STRING))):
        assert refusal(form) is None
        assert json.loads(shaped(form, "DONE ä")) == {"answer": "DONE ä"}


@pytest.mark.parametrize(
    "form", ["json", {}, {"type": "json_schema"}, {"type": "xml"}, of(None), of(schema(["n"], n=NUMBER))]
)
def test_any_other_is_refused(form: Any) -> None:
    told = refusal(form)
    assert told is not None
    assert told["error"]["type"] == "invalid_request_error"
