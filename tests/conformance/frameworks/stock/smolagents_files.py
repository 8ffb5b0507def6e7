"""An agent with file tools, as https://huggingface.co/docs/smolagents/guided_tour shows it."""

from pathlib import Path

from smolagents import CodeAgent, OpenAIModel, ToolCallingAgent, tool


@tool
def read_file(path: str) -> str:
    """Read a file and return its text.

    Args:
        path: The path of the file.
    """
    return Path(path).read_text()


@tool
def list_files(path: str) -> str:
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
        text: What it is to hold.
    """
    Path(path).write_text(text)
    return f"Wrote {len(text)} characters to {path}."


agent = ToolCallingAgent(tools=[read_file, list_files, write_file], model=OpenAIModel("gpt-4o"))
coder = CodeAgent(tools=[read_file, list_files, write_file], model=OpenAIModel("gpt-4o"))
