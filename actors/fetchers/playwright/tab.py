"""Drives one tab: goes to an address, waits until the page is stable, evaluates in it, and maps errors to faults."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
from playwright.async_api import Error, Page, Response

from actors.fetchers.page_answer import HUNG
from actors.fetchers.playwright import faults
from actors.fetchers.playwright.browser import SessionContext
from actors.fetchers.playwright.devtools import CrashedError, HungError, IsolatedWorld, cdp_of_page, script
from actors.fetchers.playwright.event_meter import EventMeter
from actors.fetchers.playwright.recording import PageRecorder
from actors.fetchers.playwright.stability import (
    PENDING_UNKNOWN,
    POLL_MS,
    DocumentState,
    PendingWork,
    StabilityBounds,
    TabActivity,
    is_at_rest,
    is_static,
    next_check_ms,
    pending_work_ms,
)
from actors.fetchers.playwright.tab_gate import BodyMeter, TabGate
from actors.fetchers.sampling import ExchangeLog
from protocol.faults import Code, Fault, FaultError, fault

UNSETTLED = "settle"
OVERTIME = "deadline"

_PENDING_WORK = "globalThis[Symbol.for('weft')]()"
_ERROR_PAGE = "chrome-error:"
_FIRST_ERROR = 400

T = TypeVar("T")


@dataclass(eq=False)
class Tab:
    """One tab and its recorder; every method raises PAGE_CRASHED where the page or the browser is gone."""

    page: Page
    world: IsolatedWorld
    gate: TabGate
    meter: BodyMeter
    recorder: PageRecorder
    excess: Callable[[], int]
    """Returns the limit of memory for which a page of the browser was ended just now."""

    @property
    def error_status(self) -> int:
        """The HTTP status that the document came with, where that is one of an error; else 0."""
        main = self.recorder.main
        return main.status if main is not None and main.status >= _FIRST_ERROR else 0

    async def go(self, url: str, deadline_s: float) -> Response | None:
        """Navigate to an address, until its document begins to arrive; None where it is a file.

        Raises:
            FaultError: NETWORK_*, SECURITY_*, HTTP_TOO_MANY_REDIRECTS or PAGE_CRASHED.
        """
        self.gate.refused = None
        try:
            await self.meter.start()
            left_ms = max((deadline_s - time.monotonic()) * 1000, 1)
            return await self.page.goto(url, wait_until="commit", timeout=left_ms)
        except Error as error:
            if faults.is_download(error):
                return None
            raise self.fault(error) from error

    async def settle(self, bounds: StabilityBounds, deadline_s: float) -> str:
        """Wait until the page is stable, or broken off; returns the limit that ended the wait before, or "".

        `deadline_s` is of the monotonic clock. The cap counts from when the document has been parsed. A page is stable
        where two observations say so: on a busy machine the first may come before timers that are long due.

        Raises:
            FaultError: CONTENT_TOO_LARGE for a document of more bytes than a page may have; PAGE_CRASHED.
        """
        started_s, parsed_s, was_stable = time.monotonic(), 0.0, False
        while True:
            try:
                state = await self._state(deadline_s)
                now = time.monotonic()
                parsed_s = parsed_s or (now if state.ready != "loading" else 0.0)
                pause_ms = await self._pause_ms(state, bounds, (now - started_s) * 1000)
                self.meter.check(state.size)
            except HungError:
                return HUNG if time.monotonic() < deadline_s or self.recorder.main is not None else OVERTIME
            left_ms = (parsed_s - now) * 1000 + bounds.cap_ms if parsed_s else POLL_MS
            ends = now >= deadline_s or left_ms <= 0
            if self.recorder.broken or (pause_ms == 0 and (was_stable or ends)):
                return ""
            was_stable = pause_ms == 0
            if ends:
                return OVERTIME if now >= deadline_s else UNSETTLED
            await anyio.sleep(max(min(pause_ms, left_ms, (deadline_s - now) * 1000), 1) / 1000)

    async def state(self) -> DocumentState | None:
        """Observe the document once; None where the page does not respond."""
        return await self.run(script("observe"), DocumentState)

    def is_at_rest(self, state: DocumentState, bounds: StabilityBounds) -> bool:
        """Whether the page is at rest by this observation of its document, however long anybody has waited for it."""
        return is_at_rest(state, self._activity(math.inf), bounds)

    async def run(self, expression: str, kind: type[T]) -> T | None:
        """Evaluate in our own world; None where the page does not respond."""
        try:
            return await self.world.evaluate(expression, kind)
        except HungError:
            return None
        except (Error, CrashedError) as error:
            raise self.fault(error) from error

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of Chromium's own protocol.

        Raises:
            FaultError: PAGE_CRASHED where the page is gone, else EXECUTION_ERROR.
        """
        try:
            return await self.world.cdp.send(method, params)
        except Error as error:
            if self.recorder.crashed or faults.is_crash(error):
                raise self.fault(error) from error
            raise FaultError(fault(Code.EXECUTION_ERROR, "The page went elsewhere meanwhile.")) from error

    async def stop(self) -> None:
        """Terminate the scripts of the page, and let no other begin."""
        with suppress(Error, CrashedError):
            await self.world.stop()

    @property
    def shows_error(self) -> bool:
        """Whether the tab shows an error page of the browser's."""
        return self.page.url.startswith(_ERROR_PAGE)

    def check(self) -> None:
        """Raise where there is no page: one may navigate to an address that fails, or break off.

        Raises:
            FaultError: NETWORK_*, SECURITY_* or HTTP_TOO_MANY_REDIRECTS.
        """
        if self.shows_error:
            raise self._load_fault(self.recorder.failure)
        if self.recorder.broken:
            raise self._load_fault("")

    def fault(self, error: Error | CrashedError) -> FaultError:
        """Map an error of the browser's to a fault."""
        if self.meter.over.is_set():
            return FaultError(self.meter.too_large)
        if isinstance(error, CrashedError) or self.recorder.crashed or faults.is_crash(error):
            return FaultError(self.gone)
        if faults.is_timeout(error):
            return FaultError(fault(Code.NETWORK_TIMEOUT))
        if faults.is_elsewhere(error):
            return FaultError(fault(Code.EXECUTION_ERROR, "The page went elsewhere meanwhile."))
        return self._load_fault(error.message)

    @property
    def gone(self) -> Fault:
        """The fault of a page that is gone, with the reason if it was ended."""
        return faults.FLOODED if self.recorder.meter.flooded else faults.crashed(self.excess())

    def _load_fault(self, failure: str) -> FaultError:
        """Return why no document was loaded: the gate knows best, then the proxy, then the browser."""
        if self.gate.refused is not None:
            return FaultError(self.gate.refused)
        code = faults.code_of(failure)
        refusal = self.gate.proxy.refusal(self.recorder.main_url) if code is Code.NETWORK_CONNECTION_FAILED else None
        return FaultError(refusal or faults.load_fault(failure))

    async def _state(self, deadline_s: float) -> DocumentState:
        try:
            return await self.world.evaluate(script("observe"), DocumentState, deadline_s - time.monotonic())
        except (Error, CrashedError) as error:
            raise self.fault(error) from error

    async def _pause_ms(self, state: DocumentState, bounds: StabilityBounds, waited_ms: float) -> float:
        """Return the pause before the next observation; 0 for a stable page."""
        activity = self._activity(waited_ms)
        pause_ms = next_check_ms(state, activity, bounds)
        if pause_ms or is_static(state, activity):
            return pause_ms
        try:
            pending = await self.world.evaluate_in_page(_PENDING_WORK, PendingWork, PENDING_UNKNOWN)
        except (Error, CrashedError) as error:
            raise self.fault(error) from error
        return pending_work_ms(pending, state, activity, bounds)

    def _activity(self, waited_ms: float) -> TabActivity:
        recorder = self.recorder
        return TabActivity(recorder.quiet_ms(), waited_ms, recorder.scripts, recorder.live)


@asynccontextmanager
async def new_tab(
    context: SessionContext, *, block: bool = False, bodies: bool = False, samples: ExchangeLog | None = None
) -> AsyncGenerator[Tab]:
    """Open a tab in a context, with which it is closed.

    With `block` nothing is loaded that nobody looks at; with `bodies` JSON is recorded, and gathered in `samples`.
    """
    page = await context.page()
    recorder = PageRecorder(page, bodies=bodies, samples=samples, meter=EventMeter(context.strained))
    recorder.attach()
    yield await attach(context, page, recorder, block=block, max_bytes=context.max_bytes)


async def attach(
    context: SessionContext, page: Page, recorder: PageRecorder, *, block: bool = False, max_bytes: int = 0
) -> Tab:
    """Attach to an open page: from now on its requests pass the gate, and its documents are no larger than that.

    Raises:
        FaultError: PAGE_CRASHED where it is gone.
    """
    try:
        cdp = await cdp_of_page(context.raw, page)
        gate = TabGate(cdp, context.proxy, context.restorer.before_document)
        await page.add_init_script(script("timers"))
        await context.restorer.attach(cdp)
        await gate.attach(block=block)
    except Error as error:
        raise FaultError(fault(Code.PAGE_CRASHED)) from error
    world = IsolatedWorld(cdp, gate.frame)
    recorder.when_gone = world.crash
    meter = BodyMeter(cdp, gate.frame, max_bytes, world.crash)
    return Tab(page, world, gate, meter, recorder, context.excess)
