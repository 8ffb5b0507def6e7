"""An agent with file tools, as
https://microsoft.github.io/autogen/stable/user-guide/agentchat-user-guide/tutorial/agents.html shows it."""

from pathlib import Path

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient


async def read_file(path: str) -> str:
    """Read a file and return its text."""
    return Path(path).read_text()


async def list_files(path: str = ".") -> str:
    """List the names in a folder, one a line."""
    return "\n".join(sorted(each.name for each in Path(path).iterdir()))


async def write_file(path: str, text: str) -> str:
    """Write text to a file, replacing what it held."""
    Path(path).write_text(text)
    return f"Wrote {len(text)} characters to {path}."


agent = AssistantAgent(
    name="assistant",
    model_client=OpenAIChatCompletionClient(model="gpt-4o"),
    tools=[read_file, list_files, write_file],
    system_message="You work on the files of the current folder.",
    max_tool_iterations=20,
)
