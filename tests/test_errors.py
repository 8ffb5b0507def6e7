"""Errors state the fact, what exists, and the way out, and carry their exit code."""

from __future__ import annotations

import pytest

from forge_chaos.errors import Broken, ChaosError, Inconclusive, Misuse, unknown


def test_exit_codes() -> None:
    assert {kind: kind.exit for kind in (ChaosError, Misuse, Inconclusive, Broken)} == {
        ChaosError: 3,
        Misuse: 4,
        Inconclusive: 2,
        Broken: 3,
    }
    assert all(issubclass(kind, ChaosError) for kind in (Misuse, Inconclusive, Broken))


@pytest.mark.parametrize(
    ("name", "known", "where", "way", "text"),
    [
        (
            "mising_file",
            ["timeout", "missing_file"],
            "",
            "forge-chaos list faults",
            "no fault 'mising_file'. Did you mean 'missing_file'? Known: missing_file, timeout. (forge-chaos list faults)",
        ),
        ("x", ["timeout"], "a.toml:3", "", "a.toml:3: no fault 'x'. Known: timeout."),
        ("x", [], "", "", "no fault 'x'. Known: none."),
        ("", iter(["b", "a"]), "", "", "no fault ''. Known: a, b."),
    ],
)
def test_what_is_unknown_is_named_with_its_near_miss(
    name: str, known: list[str], where: str, way: str, text: str
) -> None:
    error = unknown("fault", name, known, where, way)
    assert isinstance(error, Misuse)
    assert str(error) == text
