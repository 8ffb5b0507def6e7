"""JSON in the shape of requests, more or less: what a broken client may send over any wire."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

WORDS = (
    *("user", "assistant", "tool", "system", "text", "input_text", "output_text", "message", "function"),
    *(
        "function_call",
        "function_call_output",
        "reasoning",
        "item_reference",
        "tool_use",
        "tool_result",
        "image",
    ),
    *(
        "auto",
        "none",
        "required",
        "any",
        "json_schema",
        "json_object",
        "object",
        "string",
        "a",
        "b",
        "",
        "{}",
        "[",
    ),
    *(
        "Calling tools:\n[{'id': 'a'}]",
        "Observation:\n1",
        "Error:\nError executing tool 'a' with arguments {}: x",
    ),
)
KEYS = (
    *(
        "messages",
        "input",
        "role",
        "content",
        "type",
        "text",
        "tool_calls",
        "tool_call_id",
        "id",
        "call_id",
        "name",
    ),
    *(
        "arguments",
        "function",
        "output",
        "tool_use_id",
        "is_error",
        "tools",
        "tool_choice",
        "system",
        "instructions",
    ),
    *(
        "previous_response_id",
        "model",
        "max_tokens",
        "stream",
        "response_format",
        "format",
        "json_schema",
        "schema",
    ),
    *("properties", "parameters", "input_schema", "delta", "choices", "index", "item", "response", "usage"),
)
leaves = st.none() | st.booleans() | st.integers(-1, 3) | st.sampled_from(WORDS) | st.text(max_size=3)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=12,
)
turns: st.SearchStrategy[Any] = st.lists(
    st.dictionaries(st.sampled_from(KEYS), values, max_size=5)
    | st.fixed_dictionaries({"role": st.sampled_from(WORDS[:4]), "content": values}),
    max_size=5,
)
requests: st.SearchStrategy[dict[str, Any]] = st.builds(
    lambda more, history: {**more, "messages": history, "input": history},
    st.dictionaries(st.sampled_from(KEYS), values, max_size=5)
    | st.fixed_dictionaries({"model": st.just("m"), "max_tokens": st.just(9)}),
    turns | values,
)
