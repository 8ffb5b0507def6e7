"""A last word in the form that the caller wants: the arguments of an answer tool, or an object of a schema.

A scripted model says one text. It goes where a text can go; a form that wants more than that is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from forge_chaos.modelserver.refusals import Refusal, invalid

PREFERRED = ("answer", "output", "result", "response", "text", "message", "content", "value")


def filled(schema: Mapping[str, Any], text: str) -> dict[str, Any] | None:
    """An object of this schema that says the text: it goes into the property with the most telling name, the
    others are null where they must be given. None when there is no such object."""
    properties = schema.get("properties")
    known: Mapping[str, Any] = properties if isinstance(properties, Mapping) else {}
    needed = [str(name) for name in schema.get("required") or ()]
    able = [name for name in (*needed, *known) if _takes(known.get(name, {}), "string")]
    place = next((name for name in PREFERRED if name in able), able[0] if able else None)
    if place is None:
        return None if known or needed else {"answer": text}
    others = [name for name in needed if name != place]
    if not all(_takes(known.get(name, {}), "null") for name in others):
        return None
    return {place: text} | dict.fromkeys(others)


def _takes(schema: Any, kind: str) -> bool:
    if not isinstance(schema, Mapping) or not schema.keys().isdisjoint(("enum", "const", "$ref", "allOf")):
        return False
    options = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(options, list):
        return any(_takes(option, kind) for option in options)
    named = schema.get("type")
    return kind in named if isinstance(named, list) else named in (kind, None)


def refusal(form: Any) -> Refusal | None:
    """Why an answer cannot have this `response_format`; None when it can."""
    if form is None or (isinstance(form, Mapping) and form.get("type") in ("text", "json_object")):
        return None
    schema = _schema(form)
    if schema is None:
        return invalid(
            "Invalid 'response_format': text, json_object or json_schema with a schema.", "response_format"
        )
    if filled(schema, "") is None:
        return invalid(
            "This model says one text: it has no answer for a schema without a property that takes a string, or "
            "with further required ones that cannot be null.",
            "response_format",
            "unsupported_value",
        )
    return None


def shaped(form: Any, text: str) -> str:
    """The text in the form of a `response_format` that is not refused."""
    schema = _schema(form)
    if schema is None and not (isinstance(form, Mapping) and form.get("type") == "json_object"):
        return text
    return json.dumps(filled(schema or {}, text), ensure_ascii=False)


def _schema(form: Any) -> Mapping[str, Any] | None:
    held = form.get("json_schema") if isinstance(form, Mapping) else None
    schema = held.get("schema") if isinstance(held, Mapping) else None
    return schema if isinstance(schema, Mapping) and form.get("type") == "json_schema" else None
