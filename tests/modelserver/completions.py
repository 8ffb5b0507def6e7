"""Chat completions as a scripted model, or a real one, may give them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

texts = st.text(st.characters(codec="utf-8"), max_size=60)
objects = st.dictionaries(st.text(max_size=4), st.text(max_size=30) | st.integers() | st.none(), max_size=3)


def call(id: str, given: Any) -> dict[str, Any]:
    written = json.dumps(given, ensure_ascii=False)
    return {"id": id, "type": "function", "function": {"name": "read_file", "arguments": written}}


def completion(content: Any, calls: list[dict[str, Any]], finish: str | None = None) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "refusal": None}
    if calls:
        message["tool_calls"] = calls
    end = finish or ("tool_calls" if calls else "stop")
    return {
        "id": "chatcmpl-7",
        "object": "chat.completion",
        "created": 5,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": end, "logprobs": None}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
    }


@st.composite
def completions(draw: Any) -> dict[str, Any]:
    given = draw(st.lists(objects, max_size=3))
    calls = [call(f"call_{n}", each) for n, each in enumerate(given)]
    content = draw(texts.filter(bool) | st.none()) if calls else draw(texts.filter(bool))
    finish = draw(st.sampled_from(["length", None])) if not calls else None
    return completion(content, calls, finish)


def same(one: dict[str, Any], other: dict[str, Any] | None) -> bool:
    """Do both say the same? Ids and empty fields aside."""
    return other is not None and _said(one) == _said(other)


def _said(found: dict[str, Any]) -> Any:
    [choice] = found["choices"]
    message = choice["message"]
    calls = [
        (c["id"], c["function"]["name"], json.loads(c["function"]["arguments"]))
        for c in message.get("tool_calls") or ()
    ]
    return message["content"], calls, choice["finish_reason"], found["usage"], found["model"]
