"""An agent with file tools, as https://ai.pydantic.dev/tools/ shows it."""

from pathlib import Path

from pydantic_ai import Agent

agent = Agent("openai:gpt-4o", instructions="You work on the files of the current folder.")


@agent.tool_plain
def read_file(path: str) -> str:
    """Read a file and return its text."""
    return Path(path).read_text()


@agent.tool_plain
def list_files(path: str = ".") -> str:
    """List the names in a folder, one a line."""
    return "\n".join(sorted(each.name for each in Path(path).iterdir()))


@agent.tool_plain
def write_file(path: str, text: str) -> str:
    """Write text to a file, replacing what it held."""
    Path(path).write_text(text)
    return f"Wrote {len(text)} characters to {path}."
