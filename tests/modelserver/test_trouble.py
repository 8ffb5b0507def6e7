from __future__ import annotations

import pytest

from forge_chaos import natural
from forge_chaos.modelserver.trouble import LONGEST_WAIT, Trouble, classify, failed, one_line, retry_after
from forge_chaos.modelserver.view import ToolCall
from forge_chaos.nouns import Err

KINDS = [
    ("FileNotFoundError: [Errno 2] No such file or directory: 'a.csv'", "missing"),
    ("[Errno 21] Is a directory: 'a'", "missing"),
    ("ENOENT", "missing"),
    ("KeyError: \"record 'O1' not found\"", "missing"),
    ("PermissionError: [Errno 13] Permission denied: 'a'", "refused"),
    ("'write_file' on 'a' needs the approval of a human.", "refused"),
    ("'run_command' is not allowed here. Use the file tools.", "refused"),
    ("fatal: the session has been revoked; do not retry", "refused"),
    ("ConnectionRefusedError: [Errno 111] Connection refused", "transient"),
    ("429 Too Many Requests", "transient"),
    ("getaddrinfo ENOTFOUND api.example.com", "transient"),
    ("503 Service Unavailable", "transient"),
    ("Rate limit reached, try again in 20 s", "transient"),
    ("TimeoutError", "unclear"),
    ("'charge' timed out after 30 seconds", "unclear"),
    ("ConnectionResetError: [Errno 104] Connection reset by peer", "unclear"),
    ("charge failed: 500 Internal Server Error", "unclear"),
    ("504 Gateway Timeout", "unclear"),
    ("CancelledError: Cancelled by charge", "unclear"),
    ("the command was blocked waiting for input and timed out", "unclear"),
    ("An error occurred while running the tool. Please try again.", "blind"),
    ("result", "blind"),
    ("", "blind"),
    ('{"items": [{"note": "not found"', "blind"),
    ('[{"status": "denied"', "blind"),
    ('{"error": "no such file"}', "missing"),
]


@pytest.mark.parametrize(("text", "kind"), KINDS)
def test_the_kind_is_read_from_the_text(text: str, kind: str) -> None:
    assert classify(text) == kind


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("not_found", "missing"),
        ("is_directory", "missing"),
        ("permission", "refused"),
        ("blocked", "refused"),
        ("reset", "unclear"),
        ("timeout", "unclear"),
        ("refused", "transient"),
    ],
)
def test_natural_exceptions_are_told_apart_with_and_without_their_type(code: str, kind: str) -> None:
    err = Err(code, "" if code != "timeout" else "timed out")
    assert classify(natural.wording(err, "a.csv")) == kind
    assert classify(str(natural.exception(err, "a.csv"))) == kind


def test_a_long_text_is_judged_by_its_ends() -> None:
    assert classify("x" * 1_000_000 + "\ntimed out after 30 s") == "unclear"
    assert classify("x" * 3000 + " timed out " + "x" * 1_000_000) == "blind"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("429, retry after 7 s", 7.0),
        ("Retry-After: 20", 20.0),
        ('{"retry_after": 2.5}', 2.5),
        ("try again in 500 ms", 0.5),
        ("try again in 2 minutes", 120.0),
        ("try again in 3m", 180.0),
        ("wait 4 seconds", 4.0),
        ("retry after 999999 s", LONGEST_WAIT),
        ("timed out after 30 seconds", 0.0),
        ("", 0.0),
    ],
)
def test_a_wait_is_read_from_the_text(text: str, seconds: float) -> None:
    assert retry_after(text) == seconds


def test_an_ending_is_one_line() -> None:
    trouble = Trouble("unclear", "timed out\nTraceback\nDONE", ToolCall("charge", {}))
    assert failed(trouble) == "FAILED: charge: unclear: timed out"
    assert failed(KeyError("a")) == "FAILED: KeyError: 'a'"
    assert len(one_line("x" * 1000)) == 200


def test_a_wait_may_be_longer_for_who_asks() -> None:
    assert retry_after("try again in 14400 seconds") == LONGEST_WAIT
    assert retry_after("try again in 14400 seconds", float("inf")) == 14400.0
