"""Did the agent get by with so many tool calls?"""

from __future__ import annotations

from forge_chaos.events import Called, Trace, find
from forge_chaos.graders import _read
from forge_chaos.verdict import Verdict


def steps_at_most(trace: Trace, *, n: int) -> Verdict:
    """The agent made at most `n` tool calls, retries included."""
    seqs = tuple(seq for seq, _ in find(trace, Called))
    return _read.verdict(
        "steps_at_most", len(seqs) <= n, f"{len(seqs)} calls", f"{len(seqs)} calls, more than {n}", *seqs[n:]
    )
