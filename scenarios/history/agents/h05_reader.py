"""A pydantic-ai agent that answers questions on files."""

from pathlib import Path

from pydantic_ai import Agent

agent = Agent("openai:gpt-4o", defer_model_check=True)


@agent.tool_plain
def read_file(path: str) -> str:
    """Read a text file."""
    return Path(path).read_text()
