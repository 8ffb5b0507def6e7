"""An agent with file tools, as https://docs.haystack.deepset.ai/docs/agent shows it."""

from pathlib import Path
from typing import Annotated

from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.tools import tool


@tool
def read_file(path: Annotated[str, "the path of the file"]) -> str:
    """Read a file and return its text."""
    return Path(path).read_text()


@tool
def list_files(path: Annotated[str, "the path of the folder"] = ".") -> str:
    """List the names in a folder, one a line."""
    return "\n".join(sorted(each.name for each in Path(path).iterdir()))


@tool
def write_file(
    path: Annotated[str, "the path of the file"], text: Annotated[str, "what it is to hold"]
) -> str:
    """Write text to a file, replacing what it held."""
    Path(path).write_text(text)
    return f"Wrote {len(text)} characters to {path}."


agent = Agent(
    chat_generator=OpenAIChatGenerator(model="gpt-4o"),
    tools=[read_file, list_files, write_file],
    system_prompt="You work on the files of the current folder.",
)
