"""Leaves are found by name, and their parameters are checked against what they say they take."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import forge_chaos
from forge_chaos import registry
from forge_chaos.errors import Misuse

PACKAGES = ("adapters", "executors", "graders", "mechanisms", "personas", "renderers", "worlds")
ROOT = Path(forge_chaos.__file__).parent


@pytest.mark.parametrize("package", PACKAGES)
def test_every_file_of_a_package_is_a_leaf_of_its_name(package: str) -> None:
    files = {path.stem for path in (ROOT / package).glob("*.py") if not path.stem.startswith("_")}
    assert registry.names(package) == tuple(sorted(files))
    assert files
    for name in files:
        module = registry.module(package, name)
        assert module is import_module(f"forge_chaos.{package}.{name}")
        assert hasattr(module, "adapter" if package == "adapters" else name)


@pytest.mark.parametrize(
    ("package", "name", "says"),
    [
        ("graders", "file_equal", "no grader 'file_equal'. Did you mean 'file_equals'?"),
        ("personas", "exprt", "no persona 'exprt'. Did you mean 'expert'?"),
        ("mechanisms", "zzzzzz", "no mechanism 'zzzzzz'. Known: "),
        ("graders", "_read", "no grader '_read'."),
        ("worlds", "files.py", "no world 'files.py'. Did you mean 'files'?"),
    ],
)
def test_an_unknown_leaf_is_named_with_its_near_miss(package: str, name: str, says: str) -> None:
    with pytest.raises(Misuse) as caught:
        registry.module(package, name)
    assert str(caught.value).startswith(says)
    assert str(caught.value).endswith(f"(forge-chaos list {package})")


def test_parameters_are_checked_and_given_on() -> None:
    given = {"path": "total.txt", "text": "7"}
    assert registry.params("graders", "file_equals", given) == given
    assert registry.params("mechanisms", "cut", {"share": 1}) == {"share": 1.0}


@pytest.mark.parametrize(
    ("package", "name", "given", "says"),
    [
        (
            "graders",
            "file_equals",
            {"pth": "x"},
            "no parameter of grader 'file_equals' 'pth'. Did you mean 'path'?",
        ),
        ("graders", "file_equals", {}, "grader 'file_equals': parameter 'path': Field required."),
        ("mechanisms", "cut", {"of": "words"}, "mechanism 'cut': parameter 'of': Input should be"),
        ("mechanisms", "cut", {"share": "much"}, "mechanism 'cut': parameter 'share': Input should be"),
        ("mechanisms", "hang", {"x": 1}, "no parameter of mechanism 'hang' 'x'. Known: none."),
    ],
)
def test_wrong_parameters_are_the_users_mistake(
    package: str, name: str, given: dict[str, Any], says: str
) -> None:
    with pytest.raises(Misuse) as caught:
        registry.params(package, name, given, "faults/x.toml:3")
    assert str(caught.value).startswith(f"faults/x.toml:3: {says}")


def test_a_bound_leaf_takes_the_rest() -> None:
    steps = registry.bound("graders", "steps_at_most", {"n": 3})
    assert steps(()).truth == "pass"
    with pytest.raises(Misuse):
        registry.bound("graders", "steps_at_most", {"steps": 3})
