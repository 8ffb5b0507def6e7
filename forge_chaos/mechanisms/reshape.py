"""The answer's JSON has another shape than promised: a wrapped, poorer or unserialisable object."""

from __future__ import annotations

import datetime
import json
import math
from random import Random
from typing import Any, Literal

from forge_chaos.mechanisms._reply import structure_of
from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env

Structure = dict[str, Any] | list[Any]
ADDED: dict[str, tuple[str, Any]] = {
    "nan": ("score", math.nan),
    "date": ("updated_at", datetime.date(2024, 2, 29)),
}


async def reshape(
    call: Call,
    tool: Tool,
    env: Env,
    *,
    into: Literal["wrong_type", "missing_field", "nan", "date", "extra_field"],
) -> Ok | Err:
    """The agent gets the answer with its JSON changed, in the form in which the tool gave it.

    `wrong_type`: an object comes as a list that holds it, a list as an object that holds it.
    `missing_field`: one field is gone from the object, or from every object of the list.
    `nan`, `date`: a field more, with a value that JSON cannot hold; so this one comes as a Python
    object even where the tool gave text. `extra_field`: every object has a field more than it should have,
    and all else is right. An answer without such JSON is left alone.
    """
    result = await tool(call)
    found = structure_of(result)
    changed = None if found is None else _changed(found, into, env.rng)
    if changed is None:
        return result
    env.fire(into=into)
    given = result.value if isinstance(result, Ok) else None
    if into in ADDED or not isinstance(given, str):
        return Ok(changed)
    return Ok(json.dumps(changed, ensure_ascii=False, indent=2 if "\n" in given.strip() else None))


def _changed(found: Structure, into: str, rng: Random) -> Structure | None:
    if into == "wrong_type":
        return [found] if isinstance(found, dict) else {"data": found}
    rows = [row for row in (found if isinstance(found, list) else [found]) if isinstance(row, dict) and row]
    if not rows:
        return None
    if into == "missing_field":
        field = rng.choice(sorted(rows[0]))
        for row in rows:
            row.pop(field, None)
    elif into == "extra_field":
        for row in rows:
            row["x_trace"] = f"{rng.getrandbits(32):08x}"
    else:
        name, value = ADDED[into]
        rows[0][name] = value
    return found
