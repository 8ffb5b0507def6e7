"""An agent with file tools, as
https://strandsagents.com/latest/documentation/docs/user-guide/concepts/tools/python-tools/ shows it."""

from pathlib import Path

from strands import Agent, tool
from strands.models.openai import OpenAIModel


@tool
def read_file(path: str) -> str:
    """Read a file and return its text.

    Args:
        path: The path of the file.
    """
    return Path(path).read_text()


@tool
def list_files(path: str = ".") -> str:
    """List the names in a folder, one a line.

    Args:
        path: The path of the folder.
    """
    return "\n".join(sorted(each.name for each in Path(path).iterdir()))


@tool
def write_file(path: str, text: str) -> str:
    """Write text to a file, replacing what it held.

    Args:
        path: The path of the file.
        text: What the file will hold.
    """
    Path(path).write_text(text)
    return f"Wrote {len(text)} characters to {path}."


agent = Agent(
    model=OpenAIModel(client_args={"api_key": "none"}, model_id="gpt-4o"),
    system_prompt="You work on the files of the current folder.",
    tools=[read_file, list_files, write_file],
)
