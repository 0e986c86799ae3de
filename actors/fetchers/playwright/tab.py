"""Drives one tab: goes to an address, waits until the page is settled, and reads it."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
from msgspec import Struct
from playwright.async_api import Error, Page, Response

from actors.fetchers.playwright import faults, frames
from actors.fetchers.playwright.browser import Context
from actors.fetchers.playwright.cdp import of_page
from actors.fetchers.playwright.gate import Gate
from actors.fetchers.playwright.loading import script
from actors.fetchers.playwright.recording import Recorder
from actors.fetchers.playwright.settling import (
    NOTHING_KNOWN,
    POLL_MS,
    Ahead,
    Around,
    Look,
    Settling,
    ahead_in_ms,
    is_static,
    rest_in_ms,
)
from actors.fetchers.playwright.world import CrashedError, HungError, World
from protocol.faults import Code, FaultError, fault

UNSETTLED = "settle"
HUNG = "hung"
OVERTIME = "deadline"

_AHEAD = "globalThis[Symbol.for('weft')]()"
_ERROR_PAGE = "chrome-error:"

T = TypeVar("T")


class Written(Struct, frozen=True):
    """A document as the serialiser wrote it; `cut` where it is longer than the limit."""

    html: str
    cut: bool


@dataclass(eq=False)
class Tab:
    """One tab with what is recorded of it; every method raises PAGE_CRASHED where the page or the browser is gone."""

    page: Page
    world: World
    gate: Gate
    seen: Recorder

    async def go(self, url: str, deadline_s: float) -> Response | None:
        """Go to an address, until its document begins to come; None where it leads to a file.

        Raises:
            FaultError: NETWORK_*, SECURITY_*, HTTP_TOO_MANY_REDIRECTS or PAGE_CRASHED.
        """
        self.gate.refused = None
        try:
            left_ms = max((deadline_s - time.monotonic()) * 1000, 1)
            return await self.page.goto(url, wait_until="commit", timeout=left_ms)
        except Error as error:
            if faults.is_download(error):
                return None
            raise self.fault(error) from error

    async def settle(self, settling: Settling, deadline_s: float) -> str:
        """Wait until the page is settled, or breaks off; gives the name of what ended the wait where it is not.

        `deadline_s` is of the clock that only goes forward. The cap counts from when the document has been read.
        """
        asked_s, began_s = time.monotonic(), 0.0
        while True:
            try:
                look = await self._ask("observe", Look, deadline_s)
                now = time.monotonic()
                began_s = began_s or (now if look.ready != "loading" else 0.0)
                pause_ms = await self._rest_in_ms(look, settling, (now - asked_s) * 1000)
            except HungError:
                return HUNG if time.monotonic() < deadline_s or self.seen.main is not None else OVERTIME
            if pause_ms == 0 or self.seen.broken:
                return ""
            if now >= deadline_s:
                return OVERTIME
            left_ms = (began_s - now) * 1000 + settling.cap_ms if began_s else POLL_MS
            if left_ms <= 0:
                return UNSETTLED
            await anyio.sleep(max(min(pause_ms, left_ms, (deadline_s - now) * 1000), 1) / 1000)

    async def run(self, expression: str, kind: type[T]) -> T | None:
        """Evaluate in our own world; None where the page does not answer."""
        try:
            return await self.world.ask(expression, kind)
        except HungError:
            return None
        except (Error, CrashedError) as error:
            raise self.fault(error) from error

    async def html(self, limit: int) -> Written:
        """Write the page as it is shown, `limit` characters at most; a page that is hung is stopped first.

        Raises:
            FaultError: BROWSER_PAGE_HUNG where even that does not help; PAGE_CRASHED.
        """
        expression = f"({script('serialise')})({limit})"
        written = await self.run(expression, Written)
        if written is None:
            await self._stop()
            written = await self.run(expression, Written)
        if written is None:
            raise FaultError(fault(Code.BROWSER_PAGE_HUNG))
        return Written(await frames.filled(self.page.main_frame, written.html, limit), written.cut)

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Say something in Chromium's own protocol.

        Raises:
            FaultError: PAGE_CRASHED where the page is gone, else EXECUTION_ERROR.
        """
        try:
            return await self.world.cdp.send(method, params)
        except Error as error:
            if self.seen.crashed or faults.is_crash(error):
                raise self.fault(error) from error
            raise FaultError(fault(Code.EXECUTION_ERROR, "The page went elsewhere meanwhile.")) from error

    async def stop(self) -> None:
        """Let no script of the page run any more."""
        await self._stop()

    async def _stop(self) -> None:
        with suppress(Error, CrashedError):
            await self.world.stop()

    async def _rest_in_ms(self, look: Look, settling: Settling, waited_ms: float) -> float:
        """Return how long to wait for the next look, 0 for a page at rest."""
        seen = self.seen
        around = Around(seen.quiet_ms(), waited_ms, seen.scripts, seen.live)
        pause_ms = rest_in_ms(look, around, settling)
        if pause_ms or is_static(look, around):
            return pause_ms
        try:
            ahead = await self.world.ask_page(_AHEAD, Ahead, NOTHING_KNOWN)
        except (Error, CrashedError) as error:
            raise self.fault(error) from error
        return ahead_in_ms(ahead, look, around, settling)

    async def _ask(self, name: str, kind: type[T], deadline_s: float) -> T:
        try:
            return await self.world.ask(script(name), kind, deadline_s - time.monotonic())
        except (Error, CrashedError) as error:
            raise self.fault(error) from error

    def check(self) -> None:
        """See that there is a page: one may lead on to an address that cannot be had, or break off.

        Raises:
            FaultError: NETWORK_*, SECURITY_* or HTTP_TOO_MANY_REDIRECTS.
        """
        if self.page.url.startswith(_ERROR_PAGE):
            raise self._why(self.seen.failure)
        if self.seen.broken:
            raise FaultError(fault(Code.NETWORK_CONNECTION_FAILED))

    def fault(self, error: Error | CrashedError) -> FaultError:
        """Say why something failed."""
        if isinstance(error, CrashedError) or self.seen.crashed or faults.is_crash(error):
            return FaultError(fault(Code.PAGE_CRASHED))
        if faults.is_timeout(error):
            return FaultError(fault(Code.NETWORK_TIMEOUT))
        if faults.is_elsewhere(error):
            return FaultError(fault(Code.EXECUTION_ERROR, "The page went elsewhere meanwhile."))
        return self._why(error.message)

    def _why(self, failure: str) -> FaultError:
        """Say why no document came: the gate knows best, then the proxy, then the browser."""
        if self.gate.refused is not None:
            return FaultError(self.gate.refused)
        code = faults.code_of(failure)
        refusal = self.gate.proxy.refusal(self.seen.main_url) if code is Code.NETWORK_CONNECTION_FAILED else None
        return FaultError(refusal or fault(code))


@asynccontextmanager
async def tab(context: Context, *, block: bool = False, bodies: bool = False) -> AsyncGenerator[Tab]:
    """Open a tab in a context; with `block` it does without what nobody looks at, with `bodies` it records JSON.

    The tab is closed with its context.
    """
    page = await context.page()
    recorder = Recorder(page, bodies=bodies)
    recorder.attach()
    yield await take(context, page, recorder, block=block)


async def take(context: Context, page: Page, recorder: Recorder, *, block: bool = False) -> Tab:
    """Take hold of a page that is open: from now on it goes through the gate.

    Raises:
        FaultError: PAGE_CRASHED where it is gone.
    """
    try:
        cdp = await of_page(context.raw, page)
        gate = Gate(cdp, context.proxy, context.restoring.coming)
        await page.add_init_script(script("timers"))
        await context.restoring.attend(cdp)
        await gate.close_in(block=block)
    except Error as error:
        raise FaultError(fault(Code.PAGE_CRASHED)) from error
    world = World(cdp, gate.frame)
    page.on("crash", lambda _: world.crash())
    return Tab(page, world, gate, recorder)
