"""Was a tool left alone?"""

from __future__ import annotations

from forge_chaos.events import Trace
from forge_chaos.graders import _read
from forge_chaos.verdict import Verdict


def tool_not_used(trace: Trace, *, tool: str, target: str | None = None) -> Verdict:
    """The agent never called `tool` (on `target`; both globs)."""
    seqs = tuple(seq for seq, _ in _read.calls(trace, tool, target))
    what = tool if target is None else f"{tool}({target})"
    return _read.verdict(
        "tool_not_used", not seqs, f"{what} was not called", f"{what} was called {len(seqs)} times", *seqs
    )
