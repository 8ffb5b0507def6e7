"""A crew with file tools, as https://docs.crewai.com/en/concepts/tools and https://docs.crewai.com/en/concepts/crews
show it."""

from pathlib import Path

from crewai import Agent, Crew, Task
from crewai.tools import tool


@tool("read_file")
def read_file(path: str) -> str:
    """Read a file and return its text."""
    return Path(path).read_text()


@tool("list_files")
def list_files(path: str = ".") -> str:
    """List the names in a folder, one a line."""
    return "\n".join(sorted(each.name for each in Path(path).iterdir()))


@tool("write_file")
def write_file(path: str, text: str) -> str:
    """Write text to a file, replacing what it held."""
    Path(path).write_text(text)
    return f"Wrote {len(text)} characters to {path}."


clerk = Agent(
    role="File clerk",
    goal="Do what is asked of the files of the current folder",
    backstory="You know your way round files.",
    llm="openai/gpt-4o",
    tools=[read_file, list_files, write_file],
)
work = Task(description="{task}", expected_output="What the task asks for.", agent=clerk)
crew = Crew(agents=[clerk], tasks=[work])
