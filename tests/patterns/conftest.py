"""One Weft for the tests of a file: what it has learned of an application stays with that application's host."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.flows.system import System, weft_up


@pytest.fixture(scope="module")
def weft(tmp_path_factory: pytest.TempPathFactory) -> Generator[System]:
    """Run a Weft that nobody has taught anything."""
    with weft_up(tmp_path_factory.mktemp("patterns")) as system:
        yield system
