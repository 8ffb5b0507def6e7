"""An agent with file tools, as https://learn.microsoft.com/agent-framework/agents/tools/function-tools shows it."""

from pathlib import Path

from agent_framework import Agent, tool
from agent_framework.openai import OpenAIChatClient


@tool(approval_mode="never_require")
def read_file(path: str) -> str:
    """Read a file and return its text."""
    return Path(path).read_text()


@tool(approval_mode="never_require")
def list_files(path: str = ".") -> str:
    """List the names in a folder, one a line."""
    return "\n".join(sorted(each.name for each in Path(path).iterdir()))


@tool(approval_mode="never_require")
def write_file(path: str, text: str) -> str:
    """Write text to a file, replacing what it held."""
    Path(path).write_text(text)
    return f"Wrote {len(text)} characters to {path}."


agent = Agent(
    OpenAIChatClient(model="gpt-4o"),
    instructions="You work on the files of the current folder.",
    tools=[read_file, list_files, write_file],
)
