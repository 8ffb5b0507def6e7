"""Small MCP servers for tests, run as processes of their own."""
