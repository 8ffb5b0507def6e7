"""An MCP server over stdio, by the official SDK: a stock of goods in memory."""

from __future__ import annotations

from mcp.server import MCPServer

STOCK = {"apples": 3, "pears": 5}
server = MCPServer("shop", log_level="CRITICAL")


@server.tool()
def look_up(item: str) -> str:
    """Look up how many of an item are there."""
    return f"{item}: {STOCK[item]}"


@server.tool()
def order(item: str, count: int) -> str:
    """Order some of an item."""
    STOCK[item] -= count
    return f"ordered {count} {item}"


if __name__ == "__main__":
    server.run()
