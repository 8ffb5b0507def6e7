"""An MCP server on its standard input and output, with a process for each client, as inetd would start it: it
prints the folder of its sockets, `server` for clients, and goes on until its own standard input ends. What its
tools do is done by a service that listens at `service` in the same folder: one line of JSON there, one back."""

import asyncio
import json
import os
import select
import signal
import socket
import sys
import tempfile
from typing import Any

try:
    from mcp.server import MCPServer  # its name from 2.0 on
except ImportError:
    from mcp.server.fastmcp import FastMCP as MCPServer

server = MCPServer("office", log_level="CRITICAL")


async def ask(name: str, **arguments: Any) -> str:
    reader, writer = await asyncio.open_unix_connection("service", limit=2**24)
    try:
        writer.write(json.dumps([name, arguments]).encode() + b"\n")
        told = json.loads(await reader.readline())
    finally:
        writer.close()
    if "error" in told:
        raise RuntimeError(told["error"])
    return told["value"]


@server.tool()
async def read_file(path: str) -> str:
    """Read a text file."""
    return await ask("read_file", path=path)


@server.tool()
async def write_file(path: str, text: str) -> str:
    """Write a text file, replacing what was there."""
    return await ask("write_file", path=path, text=text)


@server.tool()
async def list_files(path: str = ".") -> str:
    """List a folder."""
    return await ask("list_files", path=path)


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as door:
        os.chdir(folder)
        door.bind("server")
        door.listen()
        sys.stdout.write(f"{folder}\n")
        sys.stdout.flush()
        while sys.stdin not in select.select([door, sys.stdin], [], [])[0]:
            client, _ = door.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                os.dup2(client.fileno(), 0)
                os.dup2(client.fileno(), 1)
                client.close()
                try:
                    server.run()
                finally:
                    os._exit(0)
            client.close()


if __name__ == "__main__":
    main()
