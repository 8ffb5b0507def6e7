"""A `ReAct` module of dspy with a tool of its own."""

from pathlib import Path

import dspy


def read_file(path: str) -> str:
    """Read a text file."""
    return Path(path).read_text()


agent = dspy.ReAct("task -> answer", tools=[read_file], max_iters=10)
