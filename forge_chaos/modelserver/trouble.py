"""Trouble: a reply that is not what it should be, and what kind of trouble its text speaks of."""

from __future__ import annotations

import re

from forge_chaos.modelserver.view import ToolCall

LONGEST_WAIT = 600.0
KINDS = ("missing", "refused", "unclear", "transient", "blind")

# In this order: a refused connection is no refusal, a host that is not found no missing file, and a "504
# gateway timeout" leaves the effect unclear.
_WORDS = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("transient", r"connection refused|econnrefused|errno 111|getaddrinfo|name resolution"),
        (
            "missing",
            r"no such (file|directory|record|table|row|entry)|not found|notfound|enoent|eisdir|enotdir|does(n't| not) exist"
            r"|is a directory|not a directory|isadirectory|notadirectory|\berrno (2|20|21)\b|\bhttp 404\b"
            r"|\bno \w+ (named|with id)\b",
        ),
        (
            "refused",
            r"permission|denied|not (allowed|permitted)|forbidden|\bblocked\b(?! (on|waiting|while))"
            r"|approv(al|ed?)\b|eacces|eperm|\berrno 13\b|\berrno 1\b|unauthori[sz]ed|do not (retry|try again)|against (the )?policy"
            r"|\bhttp 40[13]\b|\brefused\b",
        ),
        (
            "transient",
            r"rate.?limit|\b429\b|too many requests|\b503\b|unavailable|overload|try again (later|in|after)"
            r"|retry.?after|\bbusy\b|temporar",
        ),
        (
            "unclear",
            r"tim(ed|e)?[ -]?out\b|timeout|deadline|reset|connection|broken pipe|cancel|interrupted|aborted"
            r"|\b50[024]\b|bad gateway|no (answer|reply|response)|eof\b|disconnect|unknown (state|outcome)",
        ),
    )
)
# The start of data: words inside damaged data say nothing about the call.
_DATA = re.compile(r'\s*(\{\s*"(?!error|message|detail|code|status|reason|type|title)|\[\s*[\[{"\d-])', re.I)
_AFTER = re.compile(
    r"(?:retry[-_ ]?after\W{0,4}|(?:try again|retry|wait)\s+(?:in|after|for)?\s*)(\d+(?:\.\d+)?)\s*(ms|milli\w*|m(?:in\w*)?)?\b",
    re.IGNORECASE,
)


class Trouble(Exception):
    """Raised into a solution by its persona: `call` met `kind` of trouble, told by `text`.

    `there`: what a listing says of a missing thing, None when none was asked.
    """

    def __init__(self, kind: str, text: str, call: ToolCall, there: bool | None = None) -> None:
        super().__init__(f"{call.name}: {kind}: {one_line(text)}")
        self.kind, self.text, self.call, self.there = kind, text, call, there


class Stuck(Exception):
    """No move is left: the conversation allows no more calls, or lacks the tool."""


def one_line(text: str, most: int = 200) -> str:
    """The first line of `text`, short: an ending must be the last line of an answer."""
    line = " ".join(text.strip().partition("\n")[0][: most * 4].split())
    return line if len(line) <= most else line[: most - 3] + "..."


def failed(error: Exception) -> str:
    """The honest ending: `FAILED: tool: kind: text`."""
    told = str(error) if isinstance(error, Trouble | Stuck) else f"{type(error).__name__}: {error}"
    return f"FAILED: {one_line(told, 300)}"


def classify(text: str) -> str:
    """One of KINDS for the text of a reply that is known not to be good."""
    if _DATA.match(text[:200]):
        return "blind"
    shown = text if len(text) <= 4000 else f"{text[:2000]}\n{text[-2000:]}"
    return next((kind for kind, words in _WORDS if words.search(shown)), "blind")


def retry_after(text: str, most: float = LONGEST_WAIT) -> float:
    """The seconds that the text asks to wait, 0 when it asks for none; at most `most`."""
    found = _AFTER.search(text[:4000])
    if not found:
        return 0.0
    unit = (found[2] or "").lower()
    return min(
        float(found[1]) * (60.0 if unit in ("m", "min", "minute", "minutes") else 0.001 if unit else 1.0),
        most,
    )
