"""The loops of the benches that the tests share are ended with the session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance import table


@pytest.fixture(scope="session", autouse=True)
def _benches_are_closed() -> Iterator[None]:
    yield
    table.close()
