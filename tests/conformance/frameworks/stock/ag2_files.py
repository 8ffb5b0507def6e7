"""An agent with file tools, as https://docs.ag2.ai/latest/docs/user-guide/tools/ shows it."""

from pathlib import Path

from ag2 import Agent
from ag2.config import OpenAIConfig
from ag2.tools import tool


@tool
def read_file(path: str) -> str:
    """Read a file and return its text."""
    return Path(path).read_text()


@tool
def list_files(path: str = ".") -> str:
    """List the names in a folder, one a line."""
    return "\n".join(sorted(each.name for each in Path(path).iterdir()))


@tool
def write_file(path: str, text: str) -> str:
    """Write text to a file, replacing what it held."""
    Path(path).write_text(text)
    return f"Wrote {len(text)} characters to {path}."


agent = Agent(
    "file_clerk",
    prompt="You work on the files of the current folder.",
    config=OpenAIConfig(model="gpt-4o"),
    tools=[read_file, list_files, write_file],
)
