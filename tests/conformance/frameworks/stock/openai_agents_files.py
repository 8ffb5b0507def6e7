"""An agent with file tools, as https://openai.github.io/openai-agents-python/tools/ shows it."""

from pathlib import Path

from agents import Agent, function_tool


@function_tool
def read_file(path: str) -> str:
    """Read a file and return its text.

    Args:
        path: The path of the file.
    """
    return Path(path).read_text()


@function_tool
def list_files(path: str = ".") -> str:
    """List the names in a folder, one a line.

    Args:
        path: The path of the folder.
    """
    return "\n".join(sorted(each.name for each in Path(path).iterdir()))


@function_tool
def write_file(path: str, text: str) -> str:
    """Write text to a file, replacing what it held.

    Args:
        path: The path of the file.
        text: What the file will hold.
    """
    Path(path).write_text(text)
    return f"Wrote {len(text)} characters to {path}."


agent = Agent(
    name="File clerk",
    instructions="You work on the files of the current folder.",
    tools=[read_file, list_files, write_file],
)
