"""Lets the dialogs of a tab wait for an answer, and whoever works in the tab go on at once."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Self, cast

import anyio
from msgspec.structs import replace
from playwright.async_api import Dialog, Error

from bus.clock import now_ms
from protocol.browsers.pageinfo import PastDialog

WAITS_S = 60.0
"""How long a dialog waits for an answer; then it is dismissed, so that no page stands still for ever."""

_MAX_PAST = 20
_MAX_CHARS = 2_000
_ANSWER_S = 5.0

_Kind = Literal["alert", "confirm", "prompt", "beforeunload"]
_Response = Literal["", "accepted", "dismissed"]


@dataclass(eq=False)
class Dialogs:
    """The dialogs of one tab: the one that waits, and those before it, newest last."""

    pending: PastDialog | None = None
    past: deque[PastDialog] = field(default_factory=lambda: deque(maxlen=_MAX_PAST))
    count: int = 0
    """How many there were in all."""

    _asked: Dialog | None = None
    _over: anyio.Event = field(default_factory=anyio.Event)
    cuts: set[anyio.CancelScope] = field(default_factory=set[anyio.CancelScope])

    def cutting(self) -> Cutting:
        """Break off a block when a dialog waits for an answer: the page does nothing before it has one."""
        return Cutting(self)

    def waits(self) -> PastDialog | None:
        """Tell the dialog that waits now."""
        return self.pending

    async def opened(self, dialog: Dialog) -> None:
        """Let a dialog wait; the page may open no second one meanwhile."""
        shown = PastDialog(
            type=cast("_Kind", dialog.type),
            message=dialog.message[:_MAX_CHARS],
            default_value=dialog.default_value[:_MAX_CHARS],
            timestamp=now_ms(),
        )
        self.pending, self._asked, self._over = shown, dialog, anyio.Event()
        self.count += 1
        for scope in [*self.cuts]:
            scope.cancel()
        over = self._over
        with anyio.move_on_after(WAITS_S):
            await over.wait()
            return
        if self._asked is dialog:
            await self.answer(accept=False)

    def closed(self, dialog: Dialog) -> None:
        """Learn that a dialog is gone without our answer."""
        if dialog is self._asked:
            self._end("dismissed")

    def end(self) -> None:
        """Learn that the page is closed: nobody waits for it any longer."""
        self._end("dismissed")
        for scope in [*self.cuts]:
            scope.cancel()

    async def answer(self, *, accept: bool, text: str | None = None) -> PastDialog | None:
        """Answer the dialog that waits; None where there is none."""
        dialog = self._asked
        if dialog is None:
            return None
        answered = self._end("accepted" if accept else "dismissed")
        with anyio.move_on_after(_ANSWER_S), suppress(Error):
            if accept:
                await dialog.accept(text if text is not None else dialog.default_value)
            else:
                await dialog.dismiss()
        return answered

    def _end(self, response: _Response) -> PastDialog | None:
        if self.pending is None:
            return None
        ended = replace(self.pending, response=response)
        self.past.append(ended)
        self.pending, self._asked = None, None
        self._over.set()
        return ended


class Cutting:
    """A block that a dialog breaks off; whoever opens one looks afterwards whether it came to its end."""

    def __init__(self, dialogs: Dialogs) -> None:
        """Belong to a tab."""
        self._dialogs = dialogs
        self._scope = anyio.CancelScope()

    def __enter__(self) -> Self:
        """Begin, unless a dialog waits already."""
        self._scope.__enter__()
        if self._dialogs.pending is not None:
            self._scope.cancel()
        self._dialogs.cuts.add(self._scope)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """End; swallows the cancellation of this block alone."""
        self._dialogs.cuts.discard(self._scope)
        return bool(self._scope.__exit__(kind, error, trace))
