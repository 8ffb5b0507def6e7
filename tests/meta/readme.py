"""README.md as data: its fenced blocks and its tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXIT = re.compile(r"\s+# exit (\d)$")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: its language and text. A file to be written names itself in its first line."""

    language: str
    text: str

    @property
    def file(self) -> str | None:
        first = self.text.partition("\n")[0]
        return first.removeprefix("# ") if first.startswith("# ") else None


@dataclass(frozen=True, slots=True)
class Command:
    """One line of a `sh` block, and the exit code that it announces by `# exit N`."""

    line: str
    code: int


def blocks() -> list[Block]:
    return [Block(language, text) for language, text in _FENCE.findall(README.read_text(encoding="utf-8"))]


def commands() -> list[Command]:
    """Every command of the page, in order."""
    found = []
    for block in blocks():
        for line in block.text.splitlines() if block.language == "sh" else ():
            stated = _EXIT.search(line)
            found.append(Command(_EXIT.sub("", line), int(stated[1]) if stated else 0))
    return found


def column(heading: str) -> list[str]:
    """What stands in code marks in the first column of the table whose first heading is `heading`."""
    page = README.read_text(encoding="utf-8")
    rows = page.partition(f"\n| {heading} |")[2].split("\n\n", 1)[0].splitlines()[2:]
    return [row.split("|")[1].strip().strip("`") for row in rows]
