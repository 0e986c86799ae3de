"""Drives one tab: goes to an address, waits until the page is settled, and reads it."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import anyio
import msgspec
from playwright.async_api import Error, Page, Response

from actors.fetchers.playwright import faults, frames
from actors.fetchers.playwright.browser import Context
from actors.fetchers.playwright.cdp import Cdp, of_page
from actors.fetchers.playwright.gate import Gate
from actors.fetchers.playwright.loading import script
from actors.fetchers.playwright.recording import Recorder
from actors.fetchers.playwright.settling import POLL_MS, Look, Settling, wait_ms
from protocol.faults import Code, FaultError, fault

_WORLD = "weft"
_LOOK_S = 2.0
"""How long a page may take to answer one look before it counts as hung."""

UNSETTLED = "settle"
HUNG = "hung"
OVERTIME = "deadline"


@dataclass(eq=False)
class Tab:
    """One tab with what is recorded of it; every method raises FaultError where the page or the browser is gone."""

    page: Page
    cdp: Cdp
    gate: Gate
    seen: Recorder
    _frame: str = ""
    _world: int = 0

    async def go(self, url: str, timeout_ms: float) -> Response | None:
        """Go to an address, until its document begins to come; None where it leads to a file.

        Raises:
            FaultError: NETWORK_*, SECURITY_*, HTTP_TOO_MANY_REDIRECTS or PAGE_CRASHED.
        """
        try:
            return await self.page.goto(url, wait_until="commit", timeout=max(timeout_ms, 1))
        except Error as error:
            if faults.is_download(error):
                return None
            raise self._fault(error) from error

    async def settle(self, settling: Settling, deadline_s: float) -> str:
        """Wait until the page is settled; gives the name of what ended the wait where it is not.

        `deadline_s` is of the clock that only goes forward. The cap counts from when the document has been read.
        """
        began: float | None = None
        while True:
            now = time.monotonic()
            if now >= deadline_s:
                return OVERTIME
            if began is not None and (now - began) * 1000 >= settling.cap_ms:
                return UNSETTLED
            look = await self._look(deadline_s)
            if look is None:
                return HUNG
            if look.ready != "loading" and began is None:
                began = now
            pause = wait_ms(look, self.seen.quiet_ms(), settling, scripts=self.seen.scripts)
            if pause == 0:
                return ""
            await anyio.sleep(min(pause, POLL_MS * 2, max(deadline_s - now, 0) * 1000) / 1000)

    async def html(self, limit: int) -> str:
        """Write the page as it is shown, `limit` characters at most.

        Raises:
            FaultError: BROWSER_PAGE_HUNG where its scripts never end; PAGE_CRASHED.
        """
        expression = f"({script('serialise')})({limit})"
        written = await self._evaluate(expression)
        if written is None:
            raise FaultError(fault(Code.BROWSER_PAGE_HUNG))
        try:
            return await frames.filled(self.page.main_frame, str(written["html"]), limit)
        except Error as error:
            raise self._fault(error) from error

    async def _look(self, deadline_s: float) -> Look | None:
        """Look at the document; None where it does not answer."""
        while True:
            with anyio.move_on_after(min(_LOOK_S, max(deadline_s - time.monotonic(), 0.1))):
                value = await self._evaluate(script("observe"))
                if value is not None:
                    return msgspec.convert(value, Look)
                await anyio.sleep(POLL_MS / 1000)
                continue
            return None

    async def _evaluate(self, expression: str) -> Any:
        """Evaluate in a world of our own, where no script of the page has changed anything; None between documents."""
        try:
            if not self._frame:
                tree = await self.cdp.send("Page.getFrameTree")
                self._frame = str(tree["frameTree"]["frame"]["id"])
            for _ in range(2):
                if not self._world:
                    made = await self.cdp.send(
                        "Page.createIsolatedWorld", {"frameId": self._frame, "worldName": _WORLD}
                    )
                    self._world = int(made["executionContextId"])
                with suppress(Error):
                    answer = await self.cdp.send(
                        "Runtime.evaluate",
                        {"expression": expression, "contextId": self._world, "returnByValue": True},
                    )
                    return answer["result"].get("value")
                if self.seen.crashed:
                    break
                self._world = 0
        except Error as error:
            raise self._fault(error) from error
        if self.seen.crashed:
            raise FaultError(fault(Code.PAGE_CRASHED))
        return None

    def _fault(self, error: Error) -> FaultError:
        """Say why something failed: the gate knows best, then the proxy, then the browser."""
        if self.seen.crashed or faults.is_crash(error):
            return FaultError(fault(Code.PAGE_CRASHED))
        if self.gate.refused is not None:
            return FaultError(self.gate.refused)
        code = faults.code_of(error)
        if code is Code.NETWORK_CONNECTION_FAILED:
            refusal = self.gate.proxy.refusal(self.seen.main_url)
            if refusal is not None:
                return FaultError(refusal)
        if "Timeout" in error.message and "exceeded" in error.message:
            code = Code.NETWORK_TIMEOUT
        return FaultError(fault(code))


@asynccontextmanager
async def tab(context: Context, *, block: bool = False, bodies: bool = False) -> AsyncGenerator[Tab]:
    """Open a tab in a context; with `block` it does without what nobody looks at, with `bodies` it records JSON."""
    page = await context.page()
    recorder = Recorder(page, bodies=bodies)
    recorder.attach()
    try:
        session = await of_page(context.raw, page)
        gate = Gate(session, context.proxy)
        await gate.close_in(block=block)
    except Error as error:
        raise FaultError(fault(Code.PAGE_CRASHED)) from error
    yield Tab(page, session, gate, recorder)
