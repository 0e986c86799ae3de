"""Hands an element that our own world knows to Playwright, by the way to it in the tree."""

from __future__ import annotations

import msgspec
from playwright.async_api import ElementHandle, Frame, Playwright

from actors.fetchers.playwright.loading import script

_ENGINE = "weftway"

Way = tuple[int | str, ...]
"""Places among the children, from the document; `s` leads into a shadow root."""


async def teach(driver: Playwright) -> None:
    """Teach a driver to find by ways, in a world where no script of the page has changed anything."""
    await driver.selectors.register(_ENGINE, script("pointer"), content_script=True)


async def pointed(frame: Frame, way: Way) -> ElementHandle | None:
    """Return what a way leads to now."""
    return await frame.query_selector(f"{_ENGINE}={msgspec.json.encode(way).decode()}")
