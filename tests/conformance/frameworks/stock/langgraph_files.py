"""An agent with file tools, as https://docs.langchain.com/oss/python/langchain/agents shows it."""

from pathlib import Path

from langchain.agents import create_agent
from langchain.tools import tool


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


agent = create_agent(
    "openai:gpt-4o",
    tools=[read_file, list_files, write_file],
    system_prompt="You work on the files of the current folder.",
)
