"""What the tests of the console share: a browser, and a folder for its pictures."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.support.extension import CHROMIUM


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the pictures of this test run."""
    return tmp_path_factory.mktemp("pictures")


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    """Start one browser."""
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()
