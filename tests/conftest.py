"""What holds for every test: no wall-clock deadline, equal examples in CI, no model from the environment."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

# A background job of a shell is started with Ctrl-C ignored, and its children inherit that: the tests that
# press it need it to be heard.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A deadline would make a verdict of ours depend on how busy the machine is.
settings.register_profile("forge", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "forge")


@pytest.fixture(scope="session", autouse=True)
def no_model_from_outside() -> Iterator[None]:
    """A developer's own choice of a model must never reach a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("FORGE_CHAOS_MODEL", raising=False)
        yield
