"""An openai-agents agent that looks orders up and writes what it found."""

from pathlib import Path

from agents import Agent, function_tool


@function_tool
async def read_file(path: str) -> str:
    """Read a text file.

    Args:
        path: The path of the file.
    """
    return Path(path).read_text()


@function_tool
async def write_file(path: str, text: str) -> str:
    """Write a text file, replacing what was there.

    Args:
        path: The path of the file.
        text: What the file will hold.
    """
    Path(path).write_text(text)
    return f"wrote {len(text)} characters to {path}"


agent = Agent(
    name="Desk", instructions="You work on the files of the current folder.", tools=[read_file, write_file]
)
