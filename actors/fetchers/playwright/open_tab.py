"""A tab of a browser session while it is open in the browser: its recorder, its dialogs, and the windows it opens."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Protocol, Self, cast

import anyio
from msgspec.structs import replace
from playwright.async_api import Dialog, Download, Error, Page

from actors.extraction.parse.text import clean
from actors.fetchers.playwright import faults
from actors.fetchers.playwright.browser import SessionContext
from actors.fetchers.playwright.event_meter import EventMeter
from actors.fetchers.playwright.recording import DialogKind, PageRecorder
from actors.fetchers.playwright.tab import Tab, attach
from actors.fetchers.playwright.view import PageOutline
from bus.clock import now_ms
from protocol.browsers.pageinfo import PastDialog

WAITS_S = 60.0
"""How long a dialog waits for an answer; then it is dismissed, so that no page stands still for ever."""

_ANSWER_S = 5.0
_CLOSE_S = 3.0
_POPUP_S = 2.0
"""How long a window that a page is opening may take until the browser announces it."""

_POLL_S = 0.02
_PROBE_S = 1.0
_MAX_PAST = 20
_MAX_CHARS = 2_000

_Response = Literal["", "accepted", "dismissed"]


class TabOwner(Protocol):
    """Handles what the page of a tab opens beside itself."""

    async def popup(self, page: Page) -> None:
        """Handle a window that a page opened."""
        ...

    async def download(self, download: Download) -> None:
        """Handle a download."""
        ...


@dataclass(eq=False)
class OpenTab:
    """An open tab with its dialogs; to a window that a page opened it attaches when it is first used."""

    context: SessionContext
    page: Page
    owner: TabOwner
    stuck: bool = False
    """Whether the page did not respond to the last probe."""

    before: PageOutline | None = None
    """The outline of the page before the last action."""

    dialogs: TabDialogs = field(init=False)
    recorder: PageRecorder = field(init=False)
    _tab: Tab | None = None
    _windows_requested: int = 0
    _windows_opened: int = 0

    def __post_init__(self) -> None:
        """Begin to record what the page does."""
        self.dialogs = TabDialogs()
        self.recorder = PageRecorder(self.page, listener=self, meter=EventMeter(self.context.strained))
        self.recorder.attach()
        self.page.on("dialogclosed", self.dialogs.closed)
        self.page.on("close", self._on_close)

    async def tab(self) -> Tab:
        """Return the tab, attached at the first call.

        Raises:
            FaultError: PAGE_CRASHED where it is gone.
        """
        if self._tab is None:
            self._tab = await attach(self.context, self.page, self.recorder)
            self._tab.world.cdp.on("Page.windowOpen", self._on_window_open)
            await self._tab.send("Page.enable")
        return self._tab

    @property
    def is_closed(self) -> bool:
        """Whether its page was closed, by itself perhaps, or with its browser."""
        return self.page.is_closed() and not self.recorder.crashed

    @property
    def responds(self) -> bool:
        """Whether its page can be evaluated in now."""
        return not (self.stuck or self.dialogs.pending or self.recorder.crashed or self.page.is_closed())

    def check_no_dialog(self) -> None:
        """Raise while a dialog waits for an answer.

        Raises:
            FaultError: EXECUTION_ERROR.
        """
        if self.dialogs.pending is not None:
            raise faults.dialog_waits(self.dialogs.pending)

    async def probe(self) -> None:
        """Check whether its page responds."""
        with anyio.move_on_after(_PROBE_S) as timeout, suppress(Error):
            await self.page.evaluate("1")
        self.stuck = timeout.cancelled_caught

    async def windows(self) -> None:
        """Wait until the browser has announced the windows that the page is opening."""
        with anyio.move_on_after(_POPUP_S):
            while self._windows_opened < self._windows_requested:  # noqa: ASYNC110 - the browser announces by callbacks
                await anyio.sleep(_POLL_S)
        self._windows_requested = self._windows_opened

    async def close(self) -> None:
        """Close it, whatever its `beforeunload` says."""
        with anyio.move_on_after(_CLOSE_S, shield=True):
            try:
                await self.page.close()
            except Error:
                return

    async def dialog(self, dialog: Dialog) -> None:
        """Let a dialog wait."""
        await self.dialogs.opened(dialog)

    async def popup(self, page: Page) -> None:
        """Count a window, and pass it on."""
        self._windows_opened += 1
        await self.owner.popup(page)

    async def download(self, download: Download) -> None:
        """Pass a download on."""
        await self.owner.download(download)

    def _on_window_open(self, _: object) -> None:
        self._windows_requested += 1

    def _on_close(self, _: object) -> None:
        self.dialogs.end()


@dataclass(eq=False)
class TabDialogs:
    """The dialogs of one tab: the one that waits for an answer, and those before it, newest last."""

    pending: PastDialog | None = None
    past: deque[PastDialog] = field(default_factory=lambda: deque(maxlen=_MAX_PAST))
    interruptible: set[anyio.CancelScope] = field(default_factory=set[anyio.CancelScope])
    """The blocks that the next dialog cancels."""

    _dialog: Dialog | None = None
    _answered: anyio.Event = field(default_factory=anyio.Event)

    def interrupting(self) -> DialogInterruption:
        """Cancel a block when a dialog opens: the page does nothing before it is answered."""
        return DialogInterruption(self)

    def current(self) -> PastDialog | None:
        """Return the dialog that waits now, also after one was answered."""
        return self.pending

    async def opened(self, dialog: Dialog) -> None:
        """Let a dialog wait; the page may open no second one meanwhile."""
        self.pending = PastDialog(
            type=cast("DialogKind", dialog.type),
            message=clean(dialog.message[:_MAX_CHARS]),
            default_value=clean(dialog.default_value[:_MAX_CHARS]),
            timestamp=now_ms(),
        )
        self._dialog, self._answered = dialog, anyio.Event()
        self._interrupt()
        answered = self._answered
        with anyio.move_on_after(WAITS_S):
            await answered.wait()
            return
        if self._dialog is dialog:
            await self.answer(accept=False)

    def closed(self, dialog: Dialog) -> None:
        """Record that a dialog closed without our answer."""
        if dialog is self._dialog:
            self._end("dismissed")

    def end(self) -> None:
        """Record that the page is closed: nothing waits for it any longer."""
        self._end("dismissed")
        self._interrupt()

    async def answer(self, *, accept: bool, text: str | None = None) -> PastDialog | None:
        """Answer the dialog that waits; None where there is none."""
        dialog = self._dialog
        if dialog is None:
            return None
        answered = self._end("accepted" if accept else "dismissed")
        with anyio.move_on_after(_ANSWER_S), suppress(Error):
            if accept:
                await dialog.accept(text if text is not None else dialog.default_value)
            else:
                await dialog.dismiss()
        return answered

    def _interrupt(self) -> None:
        for scope in [*self.interruptible]:
            scope.cancel()

    def _end(self, response: _Response) -> PastDialog | None:
        if self.pending is None:
            return None
        ended = replace(self.pending, response=response)
        self.past.append(ended)
        self.pending, self._dialog = None, None
        self._answered.set()
        return ended


class DialogInterruption:
    """A block that an opening dialog cancels; its user checks afterwards whether it was completed."""

    def __init__(self, dialogs: TabDialogs) -> None:
        self._dialogs = dialogs
        self._scope = anyio.CancelScope()

    def __enter__(self) -> Self:
        """Begin; cancels at once where a dialog waits already."""
        self._scope.__enter__()
        if self._dialogs.pending is not None:
            self._scope.cancel()
        self._dialogs.interruptible.add(self._scope)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """End; swallows the cancellation of this block alone."""
        self._dialogs.interruptible.discard(self._scope)
        return bool(self._scope.__exit__(kind, error, trace))
