"""Agents in other languages, where what they need is a package manager's to bring.

python -m tests.languages         make or refresh the Node.js agent on the official clients, run its tests, and the next
python -m tests.languages.grid    the agents of targets.json on the tasks of tasks.json, in one table
"""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
AGENTS = ROOT / "tests" / "adapters" / "commands"
NODE = ROOT / ".frameworks" / "node"
PACKAGES = {"openai": "^7", "@modelcontextprotocol/sdk": "^1.32"}


def there() -> bool:
    """Are Node.js, the agent and the packages that it needs there?"""
    packages = all((NODE / "node_modules" / name).is_dir() for name in PACKAGES)
    return shutil.which("node") is not None and packages and (NODE / "loop.mjs").is_file()
