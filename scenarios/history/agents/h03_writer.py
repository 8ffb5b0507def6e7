"""A pydantic-ai agent that writes files."""

from pathlib import Path

from pydantic_ai import Agent

agent = Agent("openai:gpt-4o", defer_model_check=True)


@agent.tool_plain
def write_file(path: str, text: str) -> str:
    """Write a text file, replacing what was there."""
    Path(path).write_text(text)
    return f"wrote {len(text)} characters to {path}"


@agent.tool_plain
def read_file(path: str) -> str:
    """Read a text file."""
    return Path(path).read_text()
