"""A tool-calling loop with nothing but the standard library: chat completions and MCP, both over HTTP.

Run as a command, it is told its task on standard input and prints one JSON object.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any
from urllib.request import Request, urlopen

SECONDS = 20  # for one request


def post(url: str, body: Any) -> Any:
    accepted = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    key = {"authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}"}
    with urlopen(Request(url, json.dumps(body).encode(), {**accepted, **key}), timeout=SECONDS) as answer:
        return json.load(answer)


def rpc(method: str, **params: Any) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return post(os.environ["FORGE_CHAOS_MCP_URL"], body)["result"]


def call(name: str, arguments: str) -> str:
    try:
        done = rpc("tools/call", name=name, arguments=json.loads(arguments))
    except (OSError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return "\n".join(part.get("text", "") for part in done["content"])


def main() -> None:
    task = json.load(sys.stdin)
    tools = [
        {
            "type": "function",
            "function": {
                "name": tool["name"],
                "description": tool.get("description", ""),
                "parameters": tool["inputSchema"],
            },
        }
        for tool in rpc("tools/list")["tools"]
    ]
    messages: list[Any] = [{"role": "user", "content": task["input"]}]
    made = []
    for _ in range(task["max_steps"]):
        body = {"model": "any", "messages": messages, "tools": tools}
        said = post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body)["choices"][0]["message"]
        messages.append(said)
        if not said.get("tool_calls"):
            break
        for asked in said["tool_calls"]:
            name, arguments = asked["function"]["name"], asked["function"]["arguments"]
            made.append({"name": name, "args": json.loads(arguments)})
            messages.append({"role": "tool", "tool_call_id": asked["id"], "content": call(name, arguments)})
    sys.stdout.write(json.dumps({"output": messages[-1].get("content") or "", "tool_calls": made}) + "\n")


if __name__ == "__main__":
    main()
