"""Did a call end in an error of this kind?"""

from __future__ import annotations

from collections.abc import Mapping

from forge_chaos import natural
from forge_chaos.errors import unknown
from forge_chaos.events import Returned, Trace, find
from forge_chaos.graders import _read
from forge_chaos.verdict import Verdict

KINDS: Mapping[str, frozenset[str]] = {
    "FILE_NOT_FOUND": frozenset({"not_found"}),
    "COMMAND_BLOCKED": frozenset({"blocked", "permission", "permission_text"}),
    "INVALID_ARGUMENTS": frozenset({"invalid_arguments", "type", "unknown_tool"}),
    "COMMAND_TIMEOUT": frozenset({"timeout"}),
}


def error_seen(trace: Trace, *, code: str) -> Verdict:
    """The agent was told an error of this kind: FILE_NOT_FOUND, COMMAND_BLOCKED, INVALID_ARGUMENTS,
    COMMAND_TIMEOUT, or a code of our own. Raises Misuse for any other."""
    if code not in KINDS and code not in natural.CODES:
        raise unknown("error code", code, {*KINDS, *natural.CODES})
    codes = KINDS.get(code, frozenset({code}))
    seqs = tuple(
        seq
        for seq, returned in find(trace, Returned)
        if returned.result.error is not None and returned.result.error.get("code") in codes
    )
    return _read.verdict("error_seen", bool(seqs), f"{code} was told", f"{code} was never told", *seqs)
