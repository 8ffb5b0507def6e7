"""Does the scenario's own check, run in the workspace after the agent, exit with 0?"""

from __future__ import annotations

import shlex
from typing import Any

from forge_chaos import recorded
from forge_chaos.events import Trace
from forge_chaos.graders import _read
from forge_chaos.verdict import Verdict


def check_command(trace: Trace, *, command: str | list[str], seconds: float = 30.0) -> Verdict:
    """The command, run for up to `seconds` before the world was looked at, exited with 0.

    The trial runs it and notes its end; without that note nothing is known.
    """
    for seq, noted in reversed(list(_read.notes(trace, "check_command"))):
        if _words(noted.detail.get("command")) == _words(command):
            code = noted.detail.get("exit")
            lines = recorded.words(noted.detail.get("output", "")).split("\n")
            said = next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")[:200]
            return _read.verdict(
                "check_command",
                code == 0,
                "the check exited with 0",
                f"the check exited with {code}: {said}",
                seq,
            )
    return _read.unknown("check_command", f"the check was not run: {command}")


def _words(command: Any) -> list[str]:
    return shlex.split(command) if isinstance(command, str) else list(command or ())
