"""The contract tests of an adapter are collected only where its framework is installed."""

from __future__ import annotations

from importlib.util import find_spec

PACKAGES = {
    "test_smolagents.py": "smolagents",
    "test_mini_swe_agent.py": "minisweagent",
    "test_haystack.py": "haystack",
    "test_dspy.py": "dspy",
    "test_llama_index.py": "llama_index.llms.openai",
    "test_openai_agents.py": "agents",
    "test_ag2.py": "ag2",
    "test_strands.py": "strands",
    "test_langgraph.py": "langgraph",
    "test_autogen.py": "autogen_agentchat",
    "test_agent_framework.py": "agent_framework",
    "test_google_adk.py": "google.adk",
    "test_inspect_ai.py": "inspect_ai",
    "test_crewai.py": "crewai",
    "test_command.py": "fastmcp.server",
    "test_served.py": "fastmcp.server",
    "test_mcp.py": "mcp.server.mcpserver",
    "test_fastmcp.py": "fastmcp.server",
}


def installed(package: str) -> bool:
    parent = package.rpartition(".")[0]
    return (not parent or installed(parent)) and find_spec(package) is not None


collect_ignore = [file for file, package in PACKAGES.items() if not installed(package)]
