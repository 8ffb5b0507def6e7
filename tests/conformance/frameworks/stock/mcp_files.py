"""A server with file tools, as https://py.sdk.modelcontextprotocol.io/server/tools/ shows it."""

from pathlib import Path

from mcp.server import MCPServer

server = MCPServer("files")


@server.tool()
def read_file(path: str) -> str:
    """Read a file and return its text."""
    return Path(path).read_text()


@server.tool()
def list_files(path: str = ".") -> str:
    """List the names in a folder, one a line."""
    return "\n".join(sorted(each.name for each in Path(path).iterdir()))


@server.tool()
def write_file(path: str, text: str) -> str:
    """Write text to a file, replacing what it held."""
    Path(path).write_text(text)
    return f"Wrote {len(text)} characters to {path}."
