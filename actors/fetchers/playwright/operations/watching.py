"""Shows a window to a person, and has them take its session in hand: then nobody else acts in it."""

from __future__ import annotations

import base64
from typing import Final

import anyio
import anyio.to_thread
from msgspec.structs import replace

from actors.fetchers.playwright import faults
from actors.fetchers.playwright.open_session import OpenSession
from actors.fetchers.playwright.open_tab import OpenTab
from actors.fetchers.playwright.operations.context import OperationContext
from actors.fetchers.playwright.tab import Tab
from bus.clock import now_ms
from protocol.browsers.operations import Operation
from protocol.browsers.pageinfo import PageRef
from protocol.browsers.results import SessionHeld, WindowShown
from protocol.browsers.sessions import AskBrowser, BrowserRecord
from protocol.browsers.watching import HAND_MS, MAX_PICTURE_BYTES, HoldSession, ShowWindow, WindowSize
from protocol.faults import Code, FaultError, fault
from protocol.tools.browser import BROWSER_TOOLS
from protocol.tools.tool import Risk

_LOOK_S: Final = 5.0
"""How long the browser may take for a picture."""

_BETWEEN_S: Final = 0.2
"""How long one page takes to make room for another."""

_QUALITIES: Final = (60, 30, 10)
"""Of the JPEG: the first with which it is small enough."""


def check_held(record: BrowserRecord, request: AskBrowser, now: int) -> None:
    """Hold a session to who has it in hand: nobody else acts in it, and nobody by hand who has not taken it.

    Raises:
        FaultError: VALIDATION_SESSION_HELD; VALIDATION_SESSION_NOT_HELD.
    """
    held = record.held_until > now
    if held and not request.by_hand and _acts(request.do):
        raise FaultError(fault(Code.VALIDATION_SESSION_HELD, field="sessionId"))
    if request.by_hand and not held:
        raise FaultError(fault(Code.VALIDATION_SESSION_NOT_HELD, field="sessionId"))


def hold(session: OpenSession, do: HoldSession) -> SessionHeld:
    """Take a session in hand, or hand it back."""
    until = now_ms() + HAND_MS if do.hold else 0
    session.record = replace(session.record, held_until=until)
    return SessionHeld(held_until=until)


def shown_tab(session: OpenSession, do: ShowWindow) -> int:
    """Return the number of the tab whose window is shown.

    Raises:
        FaultError: EXECUTION_ERROR where the session has none.
    """
    if not session.tabs and do.tab_id is None:
        raise faults.not_done("The session has no tab to be shown.")
    return session.tab_number(do.tab_id)


async def show_window(op: OperationContext, number: int) -> WindowShown:
    """Take a picture of the window of an open tab, whatever is under way in it.

    Raises:
        FaultError: BROWSER_PAGE_HUNG, PAGE_CRASHED, CONTENT_TOO_LARGE, or EXECUTION_ERROR where it was closed.
    """
    open_tab = op.session.open_tab(number)
    if open_tab is None:
        raise faults.not_done("The tab was closed meanwhile.")
    tab = await open_tab.tab()
    with anyio.move_on_after(_LOOK_S):
        return await _shown(op, number, open_tab, tab)
    raise faults.hung()


async def _shown(op: OperationContext, number: int, open_tab: OpenTab, tab: Tab) -> WindowShown:
    size = tab.page.viewport_size or {"width": 1280, "height": 720}
    shown = WindowShown(
        tab_id=number,
        picture=b"",
        window=WindowSize(width=size["width"], height=size["height"]),
        page=PageRef(url=tab.recorder.main_url if tab.shows_error else tab.page.url, title=op.session.title(number)),
        dialog=open_tab.dialogs.pending,
    )
    if shown.dialog is not None:
        return shown  # the page stands still, and draws nothing
    for quality in _QUALITIES:
        picture = await _picture(tab, quality)
        if len(picture) <= MAX_PICTURE_BYTES:
            return replace(shown, picture=picture)
    raise FaultError(fault(Code.CONTENT_TOO_LARGE, "The picture of the window is larger than may be sent."))


async def _picture(tab: Tab, quality: int) -> bytes:
    """Take a picture; between two pages there is none, so it is tried again."""
    for last in (False, False, True):
        try:
            taken = await tab.send("Page.captureScreenshot", format="jpeg", quality=quality, optimizeForSpeed=True)
        except FaultError as error:
            if last or error.fault.code is not Code.EXECUTION_ERROR:
                raise
            await anyio.sleep(_BETWEEN_S)
        else:
            return await anyio.to_thread.run_sync(base64.b64decode, taken["data"])
    raise faults.hung()


def _acts(do: Operation) -> bool:
    tool = BROWSER_TOOLS.get(str(do.__struct_config__.tag))
    return tool is not None and tool.risk is Risk.ACT
