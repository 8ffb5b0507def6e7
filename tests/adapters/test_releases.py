"""An adapter refuses the releases that it was not tried with, and says what to do."""

from __future__ import annotations

import re
from importlib import metadata

import pytest

from forge_chaos.adapters._releases import numbers, supported
from forge_chaos.errors import Misuse


def test_a_release_of_the_range_passes() -> None:
    supported("x", "pytest", "8", "1000")
    supported("x", "pytest", metadata.version("pytest"), "1000")


@pytest.mark.parametrize(("least", "below"), [("900", "1000"), ("1", "2"), ("1", metadata.version("pytest"))])
def test_any_other_is_refused_with_the_range_and_the_way_out(least: str, below: str) -> None:
    said = f"supports pytest {least} .* {below}; .* has {metadata.version('pytest')}.* native agent"
    with pytest.raises(Misuse, match=said.replace("+", re.escape("+"))):
        supported("x", "pytest", least, below)


def test_what_is_no_package_is_not_refused() -> None:
    supported("x", "no-such-package-anywhere", "1", "2")


def test_releases_are_ordered_by_their_numbers() -> None:
    assert numbers("1.9.0") < numbers("1.10.0rc1") < numbers("1.24.0") < numbers("2")
    assert numbers("dev") == ()
