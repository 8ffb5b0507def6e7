"""An agent with file tools, as https://inspect.aisi.org.uk/react-agent.html shows it."""

from pathlib import Path

from inspect_ai.agent import Agent, agent, react
from inspect_ai.tool import Tool, tool


@tool
def read_file() -> Tool:
    async def execute(path: str) -> str:
        """Read a file and return its text.

        Args:
            path: The path of the file.
        """
        return Path(path).read_text()

    return execute


@tool
def list_files() -> Tool:
    async def execute(path: str = ".") -> str:
        """List the names in a folder, one a line.

        Args:
            path: The path of the folder.
        """
        return "\n".join(sorted(each.name for each in Path(path).iterdir()))

    return execute


@tool
def write_file() -> Tool:
    async def execute(path: str, text: str) -> str:
        """Write text to a file, replacing what it held.

        Args:
            path: The path of the file.
            text: What to write.
        """
        Path(path).write_text(text)
        return f"Wrote {len(text)} characters to {path}."

    return execute


@agent
def files() -> Agent:
    """Works on the files of the current folder."""
    return react(
        prompt="You work on the files of the current folder.",
        tools=[read_file(), list_files(), write_file()],
    )
