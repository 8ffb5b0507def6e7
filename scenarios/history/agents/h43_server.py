"""An MCP server on its standard input and output. What its tools do is done by a service behind it, at the socket
whose path it is given: one line of JSON there, one back."""

import asyncio
import json
import sys
from typing import Any

from mcp.server.fastmcp import FastMCP

server = FastMCP("office", log_level="CRITICAL")


async def ask(name: str, **arguments: Any) -> str:
    reader, writer = await asyncio.open_unix_connection(sys.argv[1], limit=2**24)
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


if __name__ == "__main__":
    server.run()
