"""A `CodeAgent` whose model first writes a loop, and something smaller when that has taken too long."""

from smolagents import CodeAgent, local_python_executor, tool
from smolagents.models import ChatMessage, Model

local_python_executor.MAX_OPERATIONS = 200_000  # of ten million, which take ten seconds
LOOP = """
marks = 0
for sign in read_log():
    if sign == "#":
        marks = marks + 1
final_answer(marks)
"""
SMALL = """
final_answer(read_log().count("#"))
"""


class Coder(Model):
    """Says what a model would that has been told of too many operations."""

    model_id = "coder"

    def generate(self, messages, stop_sequences=None, **options):
        if not stop_sequences:  # the last request, for an answer in words
            return ChatMessage(role="assistant", content="I could not count them.")
        roles = [getattr(each["role"], "value", each["role"]) for each in map(_mapping, messages)]
        code = SMALL if "assistant" in roles else LOOP
        return ChatMessage(role="assistant", content=f"Thought: I count them.\nCode:\n```py{code}```")

    __call__ = generate  # what it was called in older releases


def _mapping(message):
    return message if isinstance(message, dict) else {"role": message.role}


@tool
def read_log() -> str:
    """The door's log, as it is."""
    with open("door.log", encoding="utf-8") as file:
        return file.read()


read_log.chaos = {"roles": ["read"]}
agent = CodeAgent(tools=[read_log], model=Coder(), max_steps=6, verbosity_level=-1)
