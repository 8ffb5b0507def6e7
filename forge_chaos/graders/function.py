"""What the user's own Python function says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forge_chaos.errors import Broken
from forge_chaos.events import Trace
from forge_chaos.verdict import Verdict


def function(trace: Trace, *, call: Callable[..., Any]) -> Verdict:
    """`call(trace)` is True, or a passed Verdict. Raises Broken when it returns anything else."""
    name = getattr(call, "__name__", "function")
    said = call(trace)
    if isinstance(said, Verdict):
        return said
    if not isinstance(said, bool):
        raise Broken(f"{name} returned {said!r}; a grader returns True, False or a Verdict.")
    return Verdict(name, "pass" if said else "fail", f"{name} returned {said}")
