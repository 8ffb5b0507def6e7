"""A provider's refusals of a request, in the form of the OpenAI API's error object.

Another wire words the same refusal in its own form: see each wire's `refusal`.
"""

from __future__ import annotations

from typing import Any

Refusal = dict[str, Any]
NO_JSON = "The body of the request is not valid JSON."


def invalid(message: str, param: str | None = None, code: str | None = None) -> Refusal:
    """A request that the provider will never accept."""
    return error("invalid_request_error", message, param, code)


def error(kind: str, message: str, param: str | None = None, code: str | None = None) -> Refusal:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


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
