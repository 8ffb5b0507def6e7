"""An agent of `create_agent` that remembers a conversation, with tools of its own on the files of the folder."""

import json
from pathlib import Path

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver


def list_files(path: str = ".") -> str:
    """List a folder: a JSON array of names."""
    return json.dumps(sorted(each.name for each in Path(path).iterdir()))


def read_file(path: str) -> str:
    """Read a text file."""
    return Path(path).read_text(encoding="utf-8")


def write_file(path: str, text: str) -> str:
    """Write a text file, replacing what was there."""
    Path(path).write_text(text, encoding="utf-8")
    return f"wrote {len(text)} characters to {path}"


agent = create_agent(
    ChatOpenAI(model="gpt-4o-mini", api_key="none", max_retries=0),
    tools=[list_files, read_file, write_file],
    checkpointer=InMemorySaver(),
)
