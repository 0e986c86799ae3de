"""Shows one page to the engine, from its first document to the reading of what it shows."""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import Any, Final, TypeVar

import anyio
import msgspec
from anyio import CancelScope
from anyio.abc import TaskGroup

from actors.fetchers.lightweight import origins, scripts
from actors.fetchers.lightweight.engine.cdp import CdpError, Connection
from actors.fetchers.lightweight.network import CONFINED
from actors.fetchers.lightweight.observed import Settling
from actors.fetchers.lightweight.opening import Target, begin, opened
from actors.fetchers.lightweight.outcome import Ill, IllError
from actors.fetchers.lightweight.settle import POLL_MS, SOFT_MS, THIN_CHARS, Reading, Settle
from actors.fetchers.lightweight.sight import Shown, Sight, Stored, Visit
from protocol.browse import ConsoleMessage
from protocol.pages import Dialog

T = TypeVar("T")

GRACE_SECONDS: Final = 2.0
"""How long after the deadline the engine may take to answer; then it is held for stuck."""

MAX_MORE: Final = 10
"""How often a page is scrolled to its end, or its "load more" pressed."""

_WORLD: Final = "weft"
_WORLDS: Final = 3
"""How many documents in turn may come before a world of our own is made in one that stays."""

_PATIENT_MS: Final = 2_500
"""A request that is under way longer holds up no page that shows something and rests."""


async def look(connection: Connection, visit: Visit) -> Sight:
    """Show a page, whose first document is there, and give what has become of it; that is read at the deadline.

    Raises:
        IllError: it gave nothing.
        CdpError: the engine refused to open it.
        ClosedError: the connection broke off.
    """
    sight: Sight | None = None
    until = anyio.current_time() + visit.wish.seconds
    try:
        async with anyio.create_task_group() as tasks:
            with CancelScope(deadline=until + GRACE_SECONDS):
                target = await opened(connection, tasks, visit)
                try:
                    sight = await _Page(target, tasks, visit).look(until)
                finally:
                    target.network.end()
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        first, *more = group.exceptions
        if more:
            raise
        raise first from None  # the task group here is nobody's concern
    if sight is None:
        raise IllError(Ill.ENGINE_STUCK)
    return sight


class _Page:
    def __init__(self, target: Target, tasks: TaskGroup, visit: Visit) -> None:
        self._target, self._tasks, self._visit, self._wish = target, tasks, visit, visit.wish
        self._network, self._frames, self._cookies = target.network, target.frames, target.cookies
        self._name = f"_{secrets.token_hex(8)}"
        self._reading = Reading()
        self._loaded, self._found = False, True
        self._apart: int | None = None
        """The world of our own in the document that the main frame holds."""

    async def look(self, until: float) -> Sight:
        settling = Settling.HARD
        self._listen()
        await begin(self._target, self._visit, self._name)
        with CancelScope(deadline=until):
            settling = await self._settled()
        return await self._end(settling)

    def _listen(self) -> None:
        listen = self._target.connection.listen
        listen("Fetch.requestPaused", self._network.paused)
        listen("Page.frameAttached", lambda params, _: self._frames.attached(params))
        listen("Page.frameNavigated", self._navigated)
        listen("Page.frameStoppedLoading", self._stopped)
        self._tasks.start_soon(self._wake)

    def _navigated(self, params: dict[str, Any], _: str) -> None:
        self._frames.navigated(params)
        if params.get("frame", {}).get("id") == self._frames.main:
            self._loaded = False
            self._apart = None

    def _stopped(self, params: dict[str, Any], _: str) -> None:
        if params.get("frameId") == self._frames.main:
            self._loaded = True
            self._network.touch()

    async def _wake(self) -> None:
        await self._target.connection.closed.wait()
        self._network.touch()

    async def _settled(self) -> Settling:
        settling = await self._rest()
        for _ in range(MAX_MORE if self._wish.scroll else 0):
            before = self._network.tally.requests, self._reading.activity
            await self._world(scripts.more(press=True))
            settling = await self._rest()
            if before == (self._network.tally.requests, self._reading.activity):
                break
        return settling

    async def _rest(self) -> Settling:
        settle, network = Settle(), self._network
        while not network.tally.limit:
            if not self._loaded or (network.in_flight and not await self._done_waiting()):
                await self._news()
                settle.again()
                continue
            self._reading = await self._read_state()
            quiet_ms = (anyio.current_time() - network.touched_at) * 1000
            step = settle.look(self._reading, network.tally.requests, quiet_ms)
            if isinstance(step, Settling) and await self._wanted():
                return step
            if await self._stirs(POLL_MS if isinstance(step, Settling) else step):
                settle.again()
        return Settling.HARD

    async def _done_waiting(self) -> bool:
        """Whether what is under way for long may stay so: a page that shows something needs it hardly."""
        if self._network.newest_ms(anyio.current_time()) < _PATIENT_MS:
            return False
        return (await self._read_state()).chars >= THIN_CHARS

    async def _news(self) -> None:
        """Wait until something happens on the network; look again by and by, as a request may never end."""
        if self._target.connection.closed.is_set():
            await self._target.call("Page.getFrameTree", {})  # says what has happened
        with anyio.move_on_after(SOFT_MS / 4_000):
            await self._network.changed()

    async def _stirs(self, ms: float) -> bool:
        """Wait, and tell whether a request began or ended meanwhile: then at once."""
        with anyio.move_on_after(ms / 1000):
            await self._network.changed()
            return True
        return False

    async def _wanted(self) -> bool:
        selector = self._wish.selector
        if selector is None:
            return True
        self._found = bool(await self._world(scripts.found(selector)))
        return self._found

    async def _end(self, settling: Settling) -> Sight:
        network, tally = self._network, self._network.tally
        limit = tally.limit or ("time" if settling is Settling.HARD else "")
        await network.give_up()
        self._reading = await self._read_state()
        shown = await self._shown()
        if not self._found:
            await self._wanted()
        stored = None
        if tally.limit != CONFINED:  # what is confined must not change a login
            stored = await self._stored()
            await self._cookies.take_back(self._target.connection)
        if self._reading.n_dialog_loop:
            limit = "dialog_loop"
        document = self._frames.document(self._frames.main) or self._visit.first.url
        return Sight(
            url=shown.href if origins.same_origin(origins.origin(shown.href), origins.origin(document)) else document,
            status=network.status,
            shown=shown,
            reading=self._reading,
            settling=settling,
            tally=tally,
            cut_short=limit or ("too_large" if shown.truncated else ""),
            stored=stored,
            found=self._found,
            console=await self._lines(),
            dialogs=await self._dialogs(),
        )

    async def _shown(self) -> Shown:
        shown = _decoded(await self._world(scripts.reading()), Shown)
        if shown is None or not shown.html:
            raise IllError(Ill.READ_FAILED)
        return shown

    async def _stored(self) -> Stored | None:
        told = await self._world(scripts.keeping())
        stored = _decoded(told, Stored)
        document = self._frames.document(self._frames.main)
        return stored if stored and stored.origin == origins.origin(document) else None

    async def _lines(self) -> tuple[ConsoleMessage, ...]:
        if not self._wish.console:
            return ()
        return _decoded(await self._evaluate(f"{self._name}('console')"), tuple[ConsoleMessage, ...]) or ()

    async def _dialogs(self) -> tuple[Dialog, ...]:
        if not self._reading.dialogs:
            return ()
        return _decoded(await self._evaluate(f"{self._name}('dialogs')"), tuple[Dialog, ...]) or ()

    async def _read_state(self) -> Reading:
        return _decoded(await self._evaluate(f"{self._name}()"), Reading) or Reading()

    async def _world(self, expression: str) -> object:
        """Evaluate in a world of our own, whose prototypes no page has touched; in the page's where there are too many.

        What the page forges there is its own text, which it may write as it likes.
        """
        for _ in range(_WORLDS):
            if self._apart is None:
                asked = {"frameId": self._frames.main, "worldName": _WORLD}
                with suppress(CdpError):
                    self._apart = int(
                        (await self._target.call("Page.createIsolatedWorld", asked))["executionContextId"]
                    )
            try:
                return await self._told(expression, self._apart)
            except CdpError:
                self._apart = None  # a document that came meanwhile has taken the world away
        return None

    async def _evaluate(self, expression: str) -> object:
        try:
            return await self._told(expression)
        except CdpError:
            return None

    async def _told(self, expression: str, context: int | None = None) -> object:
        params: dict[str, Any] = {"expression": expression, "returnByValue": True}
        if context is not None:
            params["contextId"] = context
        answer = await self._target.call("Runtime.evaluate", params)
        return answer.get("result", {}).get("value")


def _decoded(told: object, kind: type[T]) -> T | None:
    if not isinstance(told, str):
        return None
    try:
        return msgspec.json.decode(told, type=kind)
    except msgspec.DecodeError:
        return None
