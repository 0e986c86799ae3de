"""One Weft and one site for all the tests of a worker: to start them takes longer than most tests."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.flows.system import System, weft_up
from tests.site import Site, site_in_thread


@pytest.fixture(scope="session")
def weft(tmp_path_factory: pytest.TempPathFactory) -> Generator[System]:
    """Run a Weft that may fetch from 127.0.0.1, and begins every page anew: all of them lie on one host.

    Local callers may run scripts in its browser sessions.
    """
    anew = {"WEFT_TIER_LEARNING": "false", "WEFT_PATTERN_LEARNING": "false"}
    with weft_up(tmp_path_factory.mktemp("weft"), WEFT_BROWSER_JAVASCRIPT="true", **anew) as system:
        yield system


@pytest.fixture(scope="session")
def site() -> Generator[Site]:
    """Serve the site from a thread, so that tests read what was asked of it."""
    with site_in_thread() as site:
        yield site
