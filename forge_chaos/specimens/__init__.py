"""Agents to test the tester with: known-bad loops that it must convict, good ones that it must not.

Each is a native agent, the reference loop with one thing changed, and can be run like any other:
`forge-chaos run --agent forge_chaos.specimens.errors:aborts`. `table` lists them all.
"""
