"""`forge-chaos selfcheck`."""

from __future__ import annotations

import sys

from forge_chaos import selfcheck as checker
from forge_chaos.cli.running import progress_bar


def selfcheck(processes: int) -> int:
    """Run every known-bad and every good agent; print the matrix; 1 when one is missed or falsely convicted."""
    with progress_bar() as progress:
        report = checker.selfcheck(progress, processes=processes)
    sys.stdout.write(report.text().rstrip("\n") + "\n")
    return report.exit
