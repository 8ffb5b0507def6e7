"""An openai-agents agent that answers questions on a weather file."""

from pathlib import Path

from agents import Agent, function_tool


@function_tool
async def read_file(path: str) -> str:
    """Read a text file.

    Args:
        path: The path of the file.
    """
    return Path(path).read_text()


agent = Agent(
    name="Forecaster", instructions="You answer from the files of the current folder.", tools=[read_file]
)
