"""Cold start: `forge-chaos --help` against the bare interpreter, each a process of its own."""

from __future__ import annotations

import subprocess
import sys

from tests.benchmarks.best import best


def seconds(rounds: int = 7) -> dict[str, float]:
    """`python`: nothing done. `import`: `import forge_chaos`. `help`: `forge-chaos --help`."""

    def run(*argv: str) -> None:
        subprocess.run([sys.executable, *argv], check=True, capture_output=True)

    return best(
        rounds,
        {
            "python": lambda: run("-c", "pass"),
            "import": lambda: run("-c", "import forge_chaos"),
            "help": lambda: run("-m", "forge_chaos", "--help"),
        },
    )
