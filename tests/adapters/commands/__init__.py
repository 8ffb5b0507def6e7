"""Agents with nothing of ours in them, which the tests start as commands: a shell script, Python, Node.js."""
