"""The agent of `smolagents_files`, writing code, as https://huggingface.co/docs/smolagents/guided_tour shows it."""

from smolagents import CodeAgent, OpenAIModel
from smolagents_files import list_files, read_file, write_file

agent = CodeAgent(tools=[read_file, list_files, write_file], model=OpenAIModel("gpt-4o"))
