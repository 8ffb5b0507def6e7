"""The tests of this folder run once for each framework that is installed."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest

from tests.conformance.frameworks.kit import kits

# Frameworks look for a key when they are imported or built; none of ours is real, and nothing is sent.
QUIET = {
    "OPENAI_API_KEY": "none",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "OTEL_SDK_DISABLED": "true",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "NO_PROXY": "*",
}
for name, value in QUIET.items():
    os.environ.setdefault(name, value)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "kit" in metafunc.fixturenames:
        found = [(kit, [pytest.mark.filterwarnings(each) for each in kit.warns]) for kit in kits()]
        metafunc.parametrize("kit", [pytest.param(kit, marks=marks, id=str(kit)) for kit, marks in found])


@pytest.fixture(autouse=True)
def _nothing_stays_in_the_environment() -> Iterator[None]:
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(autouse=True)
def _what_a_framework_warns_of_is_warned_of_here(request: pytest.FixtureRequest) -> Iterator[None]:
    """Its filters hold for one test: what it has left unclosed must not be found after that."""
    warns = "kit" in request.fixturenames and request.getfixturevalue("kit").warns
    yield
    if warns:
        gc.collect()
