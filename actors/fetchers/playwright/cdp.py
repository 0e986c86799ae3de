"""Chromium's own protocol, where Playwright has no word for something; its session with types."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, cast

from playwright.async_api import Browser, BrowserContext, Error, Frame, Page


class Cdp(Protocol):
    """A session with a page or the browser; what is sent fails with Playwright's Error."""

    async def send(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Call a method and give its result."""
        ...

    def on(self, event: str, f: Callable[[dict[str, Any]], Awaitable[None] | None]) -> None:
        """Have a function called with every event of a name."""
        ...


async def of_browser(browser: Browser) -> Cdp:
    """Open a session with the browser."""
    return cast("Cdp", await browser.new_browser_cdp_session())


async def of_page(context: BrowserContext, page: Page) -> Cdp:
    """Open a session with a page."""
    return cast("Cdp", await context.new_cdp_session(page))


async def of_frame(context: BrowserContext, frame: Frame) -> Cdp | None:
    """Open a session with a frame that has a process of its own; None for one that shares that of its page."""
    try:
        return cast("Cdp", await context.new_cdp_session(frame))
    except Error:
        return None
