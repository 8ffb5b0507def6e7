"""An agent with file tools, as https://developers.llamaindex.ai/python/framework/understanding/agent/ shows it."""

from pathlib import Path

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai import OpenAI


def read_file(path: str) -> str:
    """Read a file and return its text."""
    return Path(path).read_text()


def list_files(path: str = ".") -> str:
    """List the names in a folder, one a line."""
    return "\n".join(sorted(each.name for each in Path(path).iterdir()))


def write_file(path: str, text: str) -> str:
    """Write text to a file, replacing what it held."""
    Path(path).write_text(text)
    return f"Wrote {len(text)} characters to {path}."


agent = FunctionAgent(
    tools=[read_file, list_files, write_file],
    llm=OpenAI(model="gpt-4o", api_key="none"),
    system_prompt="You work on the files of the current folder.",
)
