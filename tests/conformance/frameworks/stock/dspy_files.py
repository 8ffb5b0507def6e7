"""An agent with file tools, as https://dspy.ai/api/modules/ReAct/ shows it."""

from pathlib import Path

import dspy

dspy.configure(lm=dspy.LM("openai/gpt-4o"))


def read_file(path: str) -> str:
    """Read a file and return its text."""
    return Path(path).read_text()


def list_files(path: str = ".") -> str:
    """List the names in a folder, one a line."""
    return "\n".join(sorted(each.name for each in Path(path).iterdir()))


def write_file(path: str, text: str) -> str:
    """Write text to a file, replacing what it held."""
    Path(path).write_text(text)
    return f"Wrote {len(text)} characters to {path}."


agent = dspy.ReAct("question -> answer", tools=[read_file, list_files, write_file])
