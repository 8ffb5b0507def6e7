"""Conventions of the source that the linter cannot see."""

from __future__ import annotations

import ast
import re

import pytest

from tests.meta.files import PACKAGE, ROOT, name, ours, python

HERE = "/".join(("tests", "meta"))
# Folders of one machine, and addresses of package registries. Put together here, so as not to find itself.
PLACES = re.compile(
    "|".join(
        (
            "/work/" + "(main|shared)",
            "/opt/" + "fc",
            "/home/" + r"\w",
            "/root/" + r"\w",
            "/tmp/" + r"\w",
            "py" + r"pi\.org",
            "python" + r"hosted\.org",
        )
    )
)
LATER = re.compile("TO" + "DO|FIX" + r"ME|\bX" + "XX")
SILENCED = re.compile(
    r"# (?:type: ignore(?:\[(?P<types>[\w, -]+)\])?|noqa(?:: (?P<lint>[A-Z\d, ]+\d))?)(?P<why>(?:  #| -) \S)?"
)
# What the linter bans by name, and what it does not know: each makes a verdict depend on more than the plan.
BANNED = {
    "os.urandom",
    "random.SystemRandom",
    "random.getrandbits",
    "random.randrange",
    "random.sample",
    "random.uniform",
    "secrets.token_hex",
    "time.time_ns",
    "uuid.uuid1",
}


def texts(suffixes: tuple[str, ...]) -> list[tuple[str, int, str]]:
    """(file, line number, line) of all that is ours and ends so."""
    found = []
    for path in ours():
        if path.suffix in suffixes or path.parent.name == ".ci":
            lines = path.read_text(encoding="utf-8").splitlines()
            found += [(name(path), n, line) for n, line in enumerate(lines, 1)]
    return found


def test_no_folder_of_one_machine_is_named() -> None:
    lines = texts((".py", ".toml", ".md", ".j2", ".txt"))
    assert len(lines) > 1000
    assert [f"{file}:{n}: {line.strip()}" for file, n, line in lines if PLACES.search(line)] == []


def test_nothing_is_put_off() -> None:
    lines = [row for row in texts((".py",)) if not row[0].startswith("scenarios/")]
    assert [f"{file}:{n}: {line.strip()}" for file, n, line in lines if LATER.search(line)] == []


def test_whoever_silences_a_tool_says_what_and_why() -> None:
    """`# type: ignore[code]  # reason`, `# noqa: CODE  # reason`: the reason once a file and code."""
    silenced: dict[tuple[str, str], str] = {}
    reasoned: set[tuple[str, str]] = set()
    for file, n, line in texts((".py",)):
        found = SILENCED.search(line)
        if found is None or file.startswith(HERE):
            continue
        for code in (found["types"] or found["lint"] or "everything").split(","):
            silenced.setdefault((file, code.strip()), f"{file}:{n}: {code.strip()}")
            if found["why"] and code != "everything":
                reasoned.add((file, code.strip()))
    assert len(reasoned) > 3
    assert [place for key, place in silenced.items() if key not in reasoned] == []


def test_nothing_rolls_dice_or_reads_the_clock_by_a_side_door() -> None:
    found = []
    for path in python(PACKAGE):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and ast.unparse(node) in BANNED:
                found.append(f"{name(path)}:{node.lineno}: {ast.unparse(node)}")
    assert found == []


@pytest.mark.parametrize("path", python(PACKAGE), ids=name)
def test_exports_are_sorted(path: object) -> None:
    tree = ast.parse((ROOT / str(path)).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            exported = ast.literal_eval(node.value)
            assert list(exported) == sorted(exported)
