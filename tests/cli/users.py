"""What users have in their folders: agents, scenarios, tools of their own."""

from __future__ import annotations

# A loop that does everything right, but for the time limit of a call.
LOOP = """
import json


async def agent(task, tools, model):
    messages = [{"role": "user", "content": task.prompt}]
    for _ in range(task.max_steps):
        reply = await model.complete(messages, tools.specs)
        messages.append(reply)
        if not reply.get("tool_calls"):
            return reply["content"]
        for call in reply["tool_calls"]:
            name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
            try:
                value = await tools.call(name, arguments, id=call["id"])
                text = value if isinstance(value, str) else json.dumps(value)
            except Exception as error:
                text = f"{type(error).__name__}: {error}"
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return "FAILED: out of steps"
"""
PLAIN_LOOP = LOOP.replace("async def", "def").replace("await ", "")

# Agents without a model that sum up orders.csv, each with its own end when a tool fails.
SUMS = """
import asyncio, os, sys, time


async def total(tools, otherwise):
    try:
        text = await tools.call("read_file", {"path": "orders.csv"})
    except Exception as error:
        return await otherwise(error)
    total = sum(int(line.split(",")[1]) for line in text.splitlines()[1:-1])
    await tools.call("write_file", {"path": "total.txt", "text": str(total)})
    return "DONE"


async def honest(tools):
    async def end(error):
        return f"FAILED: {error}"
    return await total(tools, end)


async def quiet(tools):
    async def end(error):
        return None
    return await total(tools, end)


async def lying(task, tools):
    print("to stdout")
    os.system("echo from a process")
    print("to stderr", file=sys.stderr)
    async def end(error):
        return "DONE"
    return await total(tools, end)


async def raising(tools):
    async def end(error):
        raise error
    return await total(tools, end)


async def waiting(tools):
    async def end(error):
        await asyncio.Event().wait()
    return await total(tools, end)


async def sleeping(tools):
    async def end(error):
        time.sleep(3600)
    return await total(tools, end)


async def spinning(tools):
    async def end(error):
        while True:
            pass
    return await total(tools, end)


async def looping(tools):
    async def end(error):
        while True:
            try:
                return await tools.call("read_file", {"path": "orders.csv"})
            except Exception:
                pass
    return await total(tools, end)


async def leaving(tools):
    async def end(error):
        sys.exit(3)
    return await total(tools, end)


async def dying(tools):
    async def end(error):
        os._exit(3)
    return await total(tools, end)


def plain(tools):
    try:
        text = tools.call("read_file", {"path": "orders.csv"})
    except OSError as error:
        return f"FAILED: {error}"
    tools.call("write_file", {"path": "total.txt", "text": str(sum(int(l.split(",")[1]) for l in text.splitlines()[1:-1]))})
    return "DONE"


class Summing:
    async def __call__(self, tools):
        return await honest(tools)

    async def method(self, tools):
        return await honest(tools)


summing = Summing()


async def idle(task):
    return "DONE"
"""

# Copies a file, whatever it holds.
COPIES = """
async def agent(tools):
    text = await tools.call("read_file", {"path": "in.txt"})
    await tools.call("write_file", {"path": "out.txt", "text": text})
    return "DONE"
"""

# A pydantic-ai agent as its user has it: tools of other names, plain and async.
SHOP = '''
from pathlib import Path

from pydantic_ai import Agent

agent = Agent(retries=2)


@agent.tool_plain
def list_files(directory: str = ".") -> list[str]:
    """List the files of a folder."""
    return sorted(entry.name for entry in Path(directory).iterdir())


@agent.tool_plain
async def read_text(file_path: str) -> str:
    """Read a text file."""
    return Path(file_path).read_text()


@agent.tool_plain
def save_file(file_path: str, content: str) -> str:
    """Write a text file."""
    Path(file_path).write_text(content)
    return f"wrote {file_path}"


def build():
    return agent
'''

# The same, with a model of its own: it copies a number from a file, and says so when it finds none.
CLERK = '''
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel


def model(messages, info):
    told = [part.content for m in messages for part in m.parts if isinstance(part, ToolReturnPart)]
    if not told:
        return ModelResponse(parts=[ToolCallPart("read_text", {"file_path": "in.txt"}, "a")])
    if len(told) == 1 and str(told[0]).strip().isdigit():
        args = {"file_path": "out.txt", "content": told[0]}
        return ModelResponse(parts=[ToolCallPart("save_file", args, "b")])
    if len(told) == 2:
        return ModelResponse(parts=[TextPart(f"Copied {told[0]}.")])
    return ModelResponse(parts=[TextPart("FAILED: in.txt holds no number")])


agent = Agent(FunctionModel(model))


@agent.tool_plain
async def read_text(file_path: str) -> str:
    """Read a text file."""
    return Path(file_path).read_text()


@agent.tool_plain
def save_file(file_path: str, content: str) -> str:
    """Write a text file."""
    Path(file_path).write_text(content)
    return f"wrote {file_path}"
'''
