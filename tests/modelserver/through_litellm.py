"""litellm over every wire, in an environment of its own: it brings hundreds of megabytes.

python -m tests.modelserver.through_litellm     makes the environment, serves, and plays there

Exit 0 when each conversation ended right. In that environment the same file, run as a script, is the client.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

WIRES = ("openai/m", "openai/responses/m", "anthropic/claude-3-5-sonnet-20240620")
NEEDED = ("litellm>=1.70",)
STEPS = 12
LIMIT = 300  # seconds


def main() -> int:
    """Make the environment, serve a scenario, and have a client in that environment play it."""
    from tests.cli.test_serving import serving
    from tests.frameworks.environments import HOME, python, uv

    if not python("litellm").exists():
        uv("venv", "--python", sys.executable, str(HOME / "litellm"))
    uv("pip", "install", "--python", str(python("litellm")), *NEEDED)
    with (
        TemporaryDirectory() as folder,
        serving(Path(folder), "--scenario", "three_reads", "--files", "files") as served,
    ):
        prompt = served.told.partition("\n\n")[2]
        client = [str(python("litellm")), __file__, served.url, prompt]
        environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        done = subprocess.run(client, cwd=Path(folder) / "files", env=environment, timeout=LIMIT, check=False)
    return done.returncode


def client(url: str, prompt: str) -> int:
    """Every wire, sync and async, plain and streamed."""
    total = sum(int(path.read_text().split()[1]) for path in Path().glob("*.txt"))
    failed = 0
    for model in WIRES:
        for streamed in (False, True):
            for blocking in (False, True):
                Path("total.txt").unlink(missing_ok=True)
                answer = asyncio.run(played(model, url, prompt, streamed, blocking))
                written = Path("total.txt").read_text() if Path("total.txt").exists() else None
                right = (answer, written) == ("DONE", str(total))
                failed += not right
                said = "right" if right else f"{answer!r}, wrote {written!r}, not {total}"
                sys.stdout.write(f"{model} streamed={streamed} blocking={blocking}: {said}\n")
    return min(failed, 1)


async def played(model: str, url: str, prompt: str, streamed: bool, blocking: bool) -> str:
    """One conversation: its answer."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    for _ in range(STEPS):
        message = await asked(model, url, messages, streamed, blocking)
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return str(message.content)
        for call in message.tool_calls:
            text = TOOLS[call.function.name](**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
    return "no end"


async def asked(model: str, url: str, messages: list[dict[str, Any]], streamed: bool, blocking: bool) -> Any:
    import litellm  # type: ignore[import-not-found, unused-ignore]  # in its own environment only

    litellm.suppress_debug_info = True

    base = url if model.startswith("anthropic") else f"{url}/v1"
    request = {"model": model, "messages": messages, "tools": SPECS, "api_base": base, "api_key": "none"}
    if blocking:
        reply = litellm.completion(**request, stream=streamed, max_retries=0)
        parts = list(reply) if streamed else []
    else:
        reply = await litellm.acompletion(**request, stream=streamed, max_retries=0)
        parts = [part async for part in reply] if streamed else []
    whole: Any = litellm.stream_chunk_builder(parts, messages=messages) if streamed else reply
    return whole.choices[0].message


def read_file(path: str) -> str:
    return Path(path).read_text()


def list_files(path: str = ".") -> str:
    return json.dumps(sorted(entry.name for entry in Path(path).iterdir()))


def write_file(path: str, text: str) -> str:
    Path(path).write_text(text)
    return f"wrote {len(text)} characters to {path}"


TOOLS = {tool.__name__: tool for tool in (list_files, read_file, write_file)}
SPECS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": name.replace("_", " "),
            "parameters": {
                "type": "object",
                "properties": {word: {"type": "string"} for word in tool.__annotations__ if word != "return"},
            },
        },
    }
    for name, tool in TOOLS.items()
]

if __name__ == "__main__":
    sys.exit(client(*sys.argv[1:]) if sys.argv[1:] else main())
