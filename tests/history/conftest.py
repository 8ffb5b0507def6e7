"""One index and one cache of environments for all tests of a session: what is made once is used again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.history import shop


@pytest.fixture(scope="session")
def till_index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The index; uv and forge-chaos know no other, and keep what they make in folders of the session."""
    place = tmp_path_factory.mktemp("history")
    with shop.served(shop.wheels()) as address, pytest.MonkeyPatch.context() as patch:
        for name in ("UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_INDEX_URL", "UV_OFFLINE"):
            patch.delenv(name, raising=False)
        patch.setenv("UV_DEFAULT_INDEX", address)
        patch.setenv("UV_NO_CONFIG", "1")
        patch.setenv("UV_CACHE_DIR", str(place / "uv"))
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        yield address


@pytest.fixture(scope="session")
def cache(till_index: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the environments of the session are kept."""
    from forge_chaos.history import environment

    return environment.home()
