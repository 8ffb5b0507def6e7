"""A provider on 127.0.0.1: the scripted model behind real sockets, in the two wire forms.

The messages front is written from the public form of the Anthropic API, strict where the real one is,
and shares nothing with the translation that it is there to test.
"""

from __future__ import annotations

import json
import socket
import sys
from collections import deque
from collections.abc import Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any
from urllib.parse import urlsplit

from forge_chaos import catalog
from forge_chaos.bench import specs_of
from forge_chaos.modelserver.server import ScriptedModel
from forge_chaos.nouns import Scenario

DROP = "drop"  # the connection is closed without an answer
HANG = "hang"  # no answer comes until the server is closed
Odd = str | tuple[int, bytes] | None


class Loopback:
    """`with Loopback([...]) as provider`: requests are answered as the expert (or `persona`) would.

    `odd` are answers that come first, one a request: DROP, HANG, (status, body), or None for a usual
    one. `always` is the odd answer to every request. `requests` are the bodies that came in, `headers`
    what came with them, `opened` and `open` count connections. It is an HTTP proxy as well, to itself.
    """

    def __init__(
        self,
        scenarios: Iterable[Scenario | str],
        persona: str = "expert",
        odd: Iterable[Odd] = (),
        always: Odd = None,
    ) -> None:
        found = [catalog.load(s, 1, []) if isinstance(s, str) else s for s in scenarios]
        self._scenarios = {scenario.prompt: scenario for scenario in found}
        self._models: dict[str, ScriptedModel] = {}
        self._persona = persona
        self.odd, self.always = deque(odd), always
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.over = Event()
        self.opened = self.open = 0

    def __enter__(self) -> Loopback:
        self._server = _Server(("127.0.0.1", 0), _door(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def environment(self) -> dict[str, str]:
        return {
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "OPENAI_API_KEY": "sk-none-0",
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "sk-none-0",
        }

    def chat(self, body: bytes) -> tuple[int, bytes]:
        """One chat-completions request. A request without a history begins a trial."""
        request = json.loads(body)
        messages = request.get("messages") or [{}]
        task = str(next((m["content"] for m in messages if m.get("role") == "user"), ""))
        scenario = next((s for prompt, s in self._scenarios.items() if task.startswith(prompt)), None)
        if scenario is None:
            return _json(400, {"error": {"message": "no such task here", "type": "invalid_request_error"}})
        if not any(message.get("role") == "assistant" for message in messages):
            self._models[scenario.name] = ScriptedModel(scenario, self._persona, specs_of(scenario))
        response = self._models[scenario.name]("/v1/chat/completions", body)
        return response.status, response.body

    def messages(self, body: bytes, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """One messages request, answered over `chat`."""
        request = json.loads(body)
        wrong = _wrong(request, headers)
        if wrong:
            return _json(400, _refusal(wrong))
        status, answer = self.chat(json.dumps(_as_chat(request)).encode())
        if status != 200:
            return _json(status, _refusal(json.loads(answer)["error"]["message"]))
        return _json(200, _as_message(json.loads(answer)))


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a client may be killed
            super().handle_error(request, client_address)


def _door(provider: Loopback) -> type[BaseHTTPRequestHandler]:
    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            provider.opened += 1
            provider.open += 1

        def finish(self) -> None:
            provider.open -= 1
            super().finish()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            provider.requests.append(json.loads(body))
            provider.headers.append(headers)
            answer = provider.odd.popleft() if provider.odd else provider.always
            if answer == HANG:
                provider.over.wait()
            if isinstance(answer, str):
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            path = urlsplit(self.path).path
            if answer is None and path == "/v1/chat/completions":
                known = headers.get("authorization", "").startswith("Bearer ")
                answer = provider.chat(body) if known else _json(401, {"error": {"message": "no key"}})
            elif answer is None and path == "/v1/messages":
                answer = provider.messages(body, headers)
            self._answer(*(answer or _json(404, {"error": {"message": f"nothing at {path}"}})))

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Door


def _json(status: int, value: Any) -> tuple[int, bytes]:
    return status, json.dumps(value).encode()


def _refusal(message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


def _wrong(request: Mapping[str, Any], headers: Mapping[str, str]) -> str:
    """What the real API refuses, of what a translation may get wrong."""
    if not (headers.get("x-api-key") or headers.get("authorization")) or not headers.get("anthropic-version"):
        return "a key and anthropic-version are required"
    strange = set(request) - {
        *("model", "max_tokens", "messages", "system", "tools", "tool_choice"),
        *("temperature", "top_p", "stop_sequences"),
    }
    if strange:
        return f"{', '.join(sorted(strange))}: Extra inputs are not permitted"
    if not isinstance(request.get("max_tokens"), int):
        return "max_tokens: Field required"
    for tool in request.get("tools", []):
        if set(tool) != {"name", "description", "input_schema"} or tool["input_schema"]["type"] != "object":
            return f"tools: {tool} is not permitted"
    return _unpaired(request["messages"], bool(request.get("tools")))


def _unpaired(messages: Iterable[Mapping[str, Any]], tools: bool) -> str:
    owed: list[str] = []
    expected = "user"
    for message in messages:
        if message["role"] != expected:
            return "messages: roles must alternate, and the first is user"
        expected = "assistant" if expected == "user" else "user"
        blocks = message["content"]
        if isinstance(blocks, str):
            blocks = [{"type": "text", "text": blocks}]
        if not blocks or any(b["type"] == "text" and not b["text"] for b in blocks):
            return "messages: text content blocks must be non-empty"
        results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        if results != owed or [b["type"] for b in blocks[: len(owed)]] != ["tool_result"] * len(owed):
            return f"messages: tool_use ids {owed} need their tool_result blocks first in the next message"
        uses = [b for b in blocks if b["type"] == "tool_use"]
        if uses and (message["role"] == "user" or not tools):
            return "messages: a tool_use needs an assistant and tools that are defined"
        if not all(isinstance(use["input"], dict) for use in uses):
            return "messages: tool_use.input: Input should be a valid dictionary"
        owed = [use["id"] for use in uses]
    return f"messages: tool_use ids {owed} without tool_result" if owed else ""


def _as_chat(request: Mapping[str, Any]) -> dict[str, Any]:
    chat: list[dict[str, Any]] = []
    if request.get("system"):
        chat.append({"role": "system", "content": request["system"]})
    for message in request["messages"]:
        blocks = message["content"]
        if isinstance(blocks, str):
            blocks = [{"type": "text", "text": blocks}]
        if message["role"] == "assistant":
            chat.append(_assistant(blocks))
            continue
        for block in blocks:
            if block["type"] == "tool_result":
                text = block.get("content", "")
                chat.append({"role": "tool", "tool_call_id": block["tool_use_id"], "content": text})
            else:
                chat.append({"role": "user", "content": block["text"]})
    made: dict[str, Any] = {"model": request["model"], "messages": chat}
    if request.get("tools") and request.get("tool_choice") != {"type": "none"}:
        made["tools"] = [
            {"type": "function", "function": {"name": t["name"], "parameters": t["input_schema"]}}
            for t in request["tools"]
        ]
    return made


def _assistant(blocks: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    text = "".join(b["text"] for b in blocks if b["type"] == "text")
    made: dict[str, Any] = {"role": "assistant", "content": text or None}
    calls = [
        {"id": b["id"], "type": "function", "function": _function(b)}
        for b in blocks
        if b["type"] == "tool_use"
    ]
    return {**made, "tool_calls": calls} if calls else made


def _function(block: Mapping[str, Any]) -> dict[str, str]:
    return {"name": block["name"], "arguments": json.dumps(block["input"])}


def _as_message(answer: Mapping[str, Any]) -> dict[str, Any]:
    message = answer["choices"][0]["message"]
    blocks: list[dict[str, Any]] = []
    if message.get("content"):
        blocks.append({"type": "text", "text": message["content"]})
    for call in message.get("tool_calls") or ():
        function = call["function"]
        given = json.loads(function["arguments"])
        blocks.append({"type": "tool_use", "id": call["id"], "name": function["name"], "input": given})
    usage = answer["usage"]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": answer["model"],
        "content": blocks,
        "stop_reason": "tool_use" if message.get("tool_calls") else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"]},
    }
