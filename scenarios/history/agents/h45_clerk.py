"""An `LlmAgent` of google-adk with three tools of its own."""

from pathlib import Path

from google.adk.agents import LlmAgent


def list_files(path: str = ".") -> list[str]:
    """List the files of a folder."""
    return sorted(entry.name for entry in Path(path).iterdir())


def read_file(path: str) -> str:
    """Read a text file."""
    return Path(path).read_text()


def write_file(path: str, text: str) -> str:
    """Write a text file, replacing what was there."""
    Path(path).write_text(text)
    return f"wrote {len(text)} characters to {path}"


agent = LlmAgent(name="clerk", tools=[list_files, read_file, write_file])
