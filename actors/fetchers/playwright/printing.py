"""Prints a page that Weft has written itself: in a context that runs no script and reaches nothing."""

from __future__ import annotations

from typing import Final

import anyio
from playwright.async_api import Error

from actors.fetchers.logins import Login
from actors.fetchers.playwright import faults
from actors.fetchers.playwright.browser import Browser
from protocol.faults import Code, FaultError, fault

PRINT_S: Final = 40.0
"""How long drawing and printing may take: hundreds of pages take seconds."""

_MARGIN: Final = "18mm"


async def print_page(browser: Browser, html: str) -> bytes:
    """Print a page as a PDF of A4 sheets.

    Raises:
        FaultError: BROWSER_UNAVAILABLE, PAGE_CRASHED, INTERNAL_BUSY; NETWORK_TIMEOUT where it takes too long.
    """
    try:
        with anyio.fail_after(PRINT_S):
            async with browser.context(Login(), inert=True) as context:
                page = await context.page()
                await page.set_content(html, wait_until="domcontentloaded")
                return await page.pdf(
                    format="A4",
                    print_background=True,
                    margin={"top": _MARGIN, "bottom": _MARGIN, "left": _MARGIN, "right": _MARGIN},
                )
    except TimeoutError as error:
        raise FaultError(fault(Code.NETWORK_TIMEOUT, "The page took too long to be printed.")) from error
    except Error as error:
        raise FaultError(faults.crashed(0)) from error
