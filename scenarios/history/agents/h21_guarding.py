"""A `CodeAgent` whose model guards its code with try/except once something has gone wrong, as models do."""

import csv

from smolagents import CodeAgent, tool
from smolagents.models import ChatMessage, Model

PLAIN = """
amount = total()
final_answer(amount)
"""
GUARDED = """
try:
    amount = total()
    final_answer(amount)
except Exception as error:
    print("that failed:", error)
"""


class Coder(Model):
    """Says what a model would that has one way to the answer, and takes more care at the second try."""

    model_id = "coder"

    def generate(self, messages, stop_sequences=None, **options):
        if not stop_sequences:  # the last request, for an answer in words
            return ChatMessage(role="assistant", content="I could not find it out.")
        roles = [getattr(each["role"], "value", each["role"]) for each in map(_mapping, messages)]
        code = GUARDED if "assistant" in roles else PLAIN
        return ChatMessage(role="assistant", content=f"Thought: I ask for it.\nCode:\n```py{code}```")

    __call__ = generate  # what it was called in older releases


def _mapping(message):
    return message if isinstance(message, dict) else {"role": message.role}


@tool
def total() -> int:
    """The sum of the amounts of all orders."""
    with open("orders.csv", encoding="utf-8") as file:
        return sum(int(row["amount"]) for row in csv.DictReader(file))


total.chaos = {"roles": ["read"]}
agent = CodeAgent(tools=[total], model=Coder(), max_steps=8, verbosity_level=-1)
