"""Was a tool called, and how often?"""

from __future__ import annotations

from forge_chaos.events import Trace
from forge_chaos.graders import _read
from forge_chaos.verdict import Verdict


def tool_used(
    trace: Trace, *, tool: str, target: str | None = None, at_least: int = 1, at_most: int | None = None
) -> Verdict:
    """The agent called `tool` (on `target`, both globs) at least and at most so many times, retries included."""
    seqs = tuple(seq for seq, _ in _read.calls(trace, tool, target))
    what = tool if target is None else f"{tool}({target})"
    enough = len(seqs) >= at_least and (at_most is None or len(seqs) <= at_most)
    wanted = f"at least {at_least}" + ("" if at_most is None else f" and at most {at_most}")
    said = f"{what} was called {len(seqs)} times"
    return _read.verdict("tool_used", enough, said, f"{said}, not {wanted}", *seqs)
