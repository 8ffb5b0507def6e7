"""Tests mirror modules: `forge_chaos/x/y.py` is tested in `tests/x/test_y.py`."""

from __future__ import annotations

from pathlib import Path

from tests.meta.files import PACKAGE, ROOT, name, python

# Modules without a mirror, each with the place where it is tested instead.
ELSEWHERE = {
    "forge_chaos/__main__.py": "one line: every test that runs `python -m forge_chaos`",
    "forge_chaos/adapters/_langchain.py": "tests/adapters/test_langgraph.py",
    "forge_chaos/executors/_process.py": "tests/executors/test_child.py",
    "forge_chaos/executors/_worker.py": "the other end of the pipe: tests/executors/test_child.py",
    "forge_chaos/plugin/door.py": "tests/test_pytest_plugin.py",
    "forge_chaos/plugin/files.py": "tests/test_pytest_plugin.py",
    "forge_chaos/plugin/marking.py": "tests/test_pytest_plugin.py",
    "forge_chaos/plugin/seating.py": "tests/test_pytest_plugin.py",
    "forge_chaos/plugin/session.py": "tests/test_pytest_plugin.py",
    "forge_chaos/plugin/stated.py": "tests/test_pytest_plugin.py",
    "forge_chaos/plugin/trying.py": "tests/test_pytest_plugin.py",
    "forge_chaos/graders/_read.py": "every grader's test reads through it",
    "forge_chaos/renderers/_words.py": "what each renderer's test finds in its text",
    "forge_chaos/worlds/_commands.py": "tests/worlds/test_files.py",
    "forge_chaos/worlds/_file_tools.py": "tests/worlds/test_files.py",
    "forge_chaos/worlds/_ground.py": "tests/worlds/test_files.py, tests/worlds/test_records.py",
    "forge_chaos/worlds/_record_tools.py": "tests/worlds/test_records.py",
    "forge_chaos/worlds/_tables.py": "tests/worlds/test_records.py",
    "forge_chaos/worlds/_tools.py": "tests/worlds/test_files.py",
}
# Tests that lie beside a package's and are about more than one module of it.
ACROSS = {
    "tests/mechanisms/test_fault_files.py": "faults/*.toml over all mechanisms",
}


def mirror(module: Path) -> Path:
    inside = module.relative_to(PACKAGE)
    return ROOT / "tests" / inside.parent / f"test_{module.stem.lstrip('_')}.py"


def modules() -> list[Path]:
    """Every module that has something to test: not the bare face of a package."""
    return [path for path in python(PACKAGE) if path.name != "__init__.py" or "def " in path.read_text()]


def test_every_module_has_its_mirror() -> None:
    bare = [name(path) for path in modules() if not mirror(path).is_file() and path.name != "__init__.py"]
    missing = sorted(set(bare) - set(ELSEWHERE))
    assert missing == [], "no mirror:\n" + "\n".join(missing)


def test_no_excuse_outlives_its_reason() -> None:
    known = {name(path): path for path in modules()}
    assert [module for module in ELSEWHERE if module not in known or mirror(known[module]).is_file()] == []


def test_every_mirror_has_its_module() -> None:
    """A test file in a folder that mirrors a package tests a module of it."""
    stray = []
    for path in python(ROOT / "tests"):
        package = PACKAGE / path.parent.relative_to(ROOT / "tests")
        if path.name.startswith("test_") and package.is_dir() and package != PACKAGE:
            stem = path.stem.removeprefix("test_")
            if not any((package / f"{start}{stem}.py").is_file() for start in ("", "_")) and stem != "init":
                stray.append(name(path))
    assert sorted(stray) == sorted(ACROSS)


def test_every_folder_of_tests_is_a_package() -> None:
    folders = {path.parent for path in python(ROOT / "tests")}
    assert [name(folder) for folder in folders if not (folder / "__init__.py").is_file()] == []
