"""Goes to an address in a tab, and waits until its page is there."""

from __future__ import annotations

import time
from dataclasses import dataclass

from playwright.async_api import Error

from actors.fetchers.playwright import faults
from actors.fetchers.playwright.operations.place import Place
from actors.fetchers.playwright.settling import Settling
from actors.fetchers.web import guard

DOM_S = 30.0
"""What a document may take to come."""

IDLE = Settling(3_000, 500)
"""How long a page that has been read may take to come to rest."""

_EMPTY = frozenset({204, 205})


@dataclass(frozen=True)
class Went:
    """What came of it: `partial` where the page did not come to rest, `is_file` where the browser downloads it."""

    status: int | None
    partial: bool = False
    is_file: bool = False


async def go(at: Place, url: str) -> Went:
    """Go to an address; a dialog that opens meanwhile ends the wait.

    Raises:
        FaultError: NETWORK_*, SECURITY_*, HTTP_TOO_MANY_REDIRECTS, RATE_LIMIT_EXCEEDED or PAGE_CRASHED.
    """
    guard.check_url(url)
    until_s = at.until(DOM_S)
    left_ms = max((until_s - time.monotonic()) * 1000, 1)
    is_file, ended = False, "dialog"
    with at.awake.dialogs.cutting():
        async with at.means.web.turn(url, round(left_ms)):
            is_file = not await _commit(at, url, left_ms)
            ended = await at.tab.settle(IDLE, until_s)
    if at.awake.dialogs.pending is None:
        at.tab.check()
    main = at.awake.seen.main
    return Went(main.status if main else None, partial=bool(ended), is_file=is_file)


async def _commit(at: Place, url: str, left_ms: float) -> bool:
    """Have the document begin to come; False where it is a file that the browser downloads."""
    at.tab.gate.refused = None
    try:
        await at.tab.page.goto(url, wait_until="commit", timeout=left_ms)
    except Error as error:
        if faults.is_download(error):
            return False
        main = at.awake.seen.main
        stays = main is not None and main.status in _EMPTY
        if not stays and not faults.is_interrupted(error):
            raise at.tab.fault(error) from error
    return True
