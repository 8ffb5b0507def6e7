"""A provider's refusals of a request, in the form of the OpenAI API's error object."""

from __future__ import annotations

from typing import Any

Refusal = dict[str, Any]


def invalid(message: str, param: str | None = None, code: str | None = None) -> Refusal:
    """A request that the provider will never accept."""
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


def unanswered(ids: list[str], index: int) -> Refusal:
    return invalid(
        "An assistant message with 'tool_calls' must be followed by tool messages that respond to each "
        f"'tool_call_id'. These had no response: {', '.join(ids)}",
        f"messages.[{index}].role",
    )


def unasked(index: int) -> Refusal:
    return invalid(
        "Messages with role 'tool' must respond to a preceding message with 'tool_calls'.",
        f"messages.[{index}].role",
    )


def too_long(window: int, tokens: int) -> Refusal:
    return invalid(
        f"The maximum context length of this model is {window} tokens, but the messages came to {tokens} "
        "tokens. Reduce the length of the messages.",
        "messages",
        "context_length_exceeded",
    )
