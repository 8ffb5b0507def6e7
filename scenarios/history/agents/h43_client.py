"""An agent whose tools are those of an MCP server in a process of its own, at the other end of its standard input
and output. What the server's tools do is done by a service of this agent's."""

import asyncio
import json
import sys
from itertools import count
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

from forge_chaos import reference

SERVER = Path(__file__).with_name("h43_server.py")
HELLO = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}}
LINE = 2**24  # bytes at most
HOST = Popen([sys.executable, str(SERVER)], stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
FOLDER = HOST.stdout.readline().decode().strip()


class Server:
    """The connection to a server, and the requests to it that are under way."""

    def __init__(self, reader, writer):
        self.reader, self.writer, self.numbers, self.waiting = reader, writer, count(1), {}
        self.reading = asyncio.create_task(self._read())
        self.tools = []

    async def _read(self):
        while line := await self.reader.readline():
            message = json.loads(line)
            if (asked := self.waiting.pop(message.get("id"), None)) and not asked.done():
                asked.set_result(message)
        for asked in self.waiting.values():
            if not asked.done():
                asked.set_exception(ConnectionError("the server has closed the connection"))

    def send(self, method, params, **more):
        line = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}, ensure_ascii=False)
        self.writer.write(line.encode("utf-8", "surrogatepass") + b"\n")

    async def request(self, method, params):
        if self.reading.done():
            raise ConnectionError("there is no connection to the server")
        number = next(self.numbers)
        answered = self.waiting[number] = asyncio.get_running_loop().create_future()
        self.send(method, params, id=number)
        try:
            message = await answered
        except asyncio.CancelledError:
            self.send("notifications/cancelled", {"requestId": number, "reason": "the caller has left"})
            raise
        if "error" in message:
            raise RuntimeError(message["error"]["message"])
        return message["result"]

    async def hello(self):
        await self.request("initialize", HELLO)
        self.send("notifications/initialized", {})
        self.tools = (await self.request("tools/list", {}))["tools"]


class Remote:
    """The server's tools, as an agent's loop calls them."""

    def __init__(self, server, limit):
        self.server, self.limit = server, limit
        self.specs = [
            {
                "type": "function",
                "function": {
                    "name": each["name"],
                    "description": each["description"],
                    "parameters": each["inputSchema"],
                },
            }
            for each in server.tools
        ]

    async def call(self, name, args=None, *, id=None):
        result = await self.server.request("tools/call", {"name": name, "arguments": dict(args or {})})
        text = "\n".join(part.get("text", "") for part in result["content"])
        if result.get("isError"):
            raise RuntimeError(text)
        return text


async def keep(tools, found):
    """The server, and the service behind it, until the session is over."""

    async def serve(reader, writer):
        name, arguments = json.loads(await reader.readline())
        call = asyncio.create_task(tools.call(name, arguments))
        left = asyncio.create_task(reader.read())  # ends when the server wants the answer no more
        await asyncio.wait({call, left}, return_when=asyncio.FIRST_COMPLETED)
        if not call.done():
            call.cancel()
        try:
            told = {"value": await call}
        except (Exception, asyncio.CancelledError) as error:
            told = {"error": f"{type(error).__name__}: {error}"}
        left.cancel()
        writer.write(json.dumps(told).encode() + b"\n")
        writer.close()

    async with await asyncio.start_unix_server(serve, f"{FOLDER}/service", limit=LINE):
        server = Server(*await asyncio.open_unix_connection(f"{FOLDER}/server", limit=LINE))
        try:
            await server.hello()
            found.set_result(server)
            await server.reading
        except ConnectionError as error:
            if not found.done():
                found.set_exception(error)
        finally:
            server.writer.close()


async def agent(task, tools, model):
    if "server" not in task.session:
        found = asyncio.get_running_loop().create_future()
        task.session["keeper"] = asyncio.create_task(keep(tools, found))
        task.session["server"] = await found
    return await reference.agent(task, Remote(task.session["server"], tools.limit), model)
