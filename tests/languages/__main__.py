"""Make the Node.js agent, run the tests of commands with it, and print the table of all languages."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

from tests.languages import AGENTS, NODE, PACKAGES, ROOT, grid, there

LIMIT = 900  # seconds for one step
TESTS = ["tests/adapters/test_command.py"]


def made() -> bool:
    """The agent in a folder with the packages that it imports; False where there is no npm."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        return False
    NODE.mkdir(parents=True, exist_ok=True)
    manifest = {"name": "agent", "private": True, "type": "module", "dependencies": PACKAGES}
    (NODE / "package.json").write_text(json.dumps(manifest))
    shutil.copy(AGENTS / "loop.mjs", NODE)
    subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", "--loglevel=error"],
        cwd=NODE,
        check=True,
        timeout=LIMIT,
        stdin=subprocess.DEVNULL,
    )
    return there()


def main() -> int:
    if not made():
        sys.stderr.write("languages: SKIPPED: Node.js and npm are needed, and they are not there\n")
        return 0
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "node", *TESTS]
    tests = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, timeout=LIMIT, check=False).returncode
    return tests or grid.main()


if __name__ == "__main__":
    sys.exit(main())
