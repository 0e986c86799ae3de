"""Shows one page to the engine, from its first document to the reading of what it shows."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import anyio
import msgspec
from anyio import CancelScope
from anyio.abc import TaskGroup
from msgspec import Struct

from actors.fetchers.lightweight import origins, scripts
from actors.fetchers.lightweight.cdp import CdpError, Connection
from actors.fetchers.lightweight.following import Web
from actors.fetchers.lightweight.frames import Frames
from actors.fetchers.lightweight.keeping import OwnCookies
from actors.fetchers.lightweight.network import Network, Tally, Terms
from actors.fetchers.lightweight.observed import Settling
from actors.fetchers.lightweight.outcome import Ill, IllError
from actors.fetchers.lightweight.settle import POLL_MS, SOFT_MS, THIN_CHARS, Reading, Settle
from actors.fetchers.sessions import Session
from actors.fetchers.web.client import Response
from protocol.browse import ConsoleMessage
from protocol.pages import Dialog
from protocol.sessions import OriginStorage

T = TypeVar("T")

GRACE_SECONDS: Final = 2.0
"""How long after the deadline the engine may take to answer; then it is held for stuck."""

MAX_MORE: Final = 10
"""How often a page is scrolled to its end, or its "load more" pressed."""

_WORLD: Final = "weft"
_PATIENT_MS: Final = 2_500
"""A request that is under way longer holds up no page that shows something and rests."""


class Shown(Struct, frozen=True):
    """What read.js gives of a document."""

    html: str
    text: str
    words: int
    chars: int
    href: str = ""
    empty_roots: int = 0
    truncated: bool = False
    media: int = 0
    canvases: int = 0
    foreign: int = 0
    scripts: int = 0
    missing: int = 0


class Stored(Struct, frozen=True):
    """What keep.js gives."""

    origin: str
    local: dict[str, str]
    session: dict[str, str]


@dataclass(frozen=True)
class Wish:
    """What is wanted of a page: `seconds` is how long it may move at most."""

    terms: Terms
    agent: str
    seconds: float
    selector: str | None = None
    scroll: bool = False
    console: bool = False


@dataclass(frozen=True)
class Sight:
    """A page as it was in the end. `url` is the document's, or one of its origin that scripts have put in its place."""

    url: str
    status: int
    shown: Shown
    reading: Reading
    settling: Settling
    tally: Tally
    cut_short: str
    stored: Stored | None
    found: bool
    console: tuple[ConsoleMessage, ...] = ()
    dialogs: tuple[Dialog, ...] = ()


async def look(connection: Connection, web: Web, first: Response, session: Session, wish: Wish) -> Sight:
    """Show a page, whose first document is there, and give what has become of it.

    Raises:
        IllError: it gave nothing.
        ClosedError: the connection broke off.
    """
    sights: list[Sight] = []
    async with anyio.create_task_group() as tasks:
        try:
            sights.append(await _Page(connection, tasks, web, first, session, wish).look())
        finally:
            tasks.cancel_scope.cancel()
    return sights[0]


@dataclass
class _Page:
    _connection: Connection
    _tasks: TaskGroup
    _web: Web
    _first: Response
    _session: Session
    _wish: Wish

    _frames: Frames = field(default_factory=Frames, init=False)
    _name: str = field(default_factory=lambda: f"_{secrets.token_hex(8)}", init=False)
    _reading: Reading = field(default_factory=Reading, init=False)
    _loaded: bool = field(default=False, init=False)
    _found: bool = field(default=True, init=False)

    async def look(self) -> Sight:
        until = anyio.current_time() + self._wish.seconds
        settling = Settling.HARD
        with CancelScope(deadline=until + GRACE_SECONDS):
            await self._open()
            with CancelScope(deadline=until):
                settling = await self._settled()
            return await self._end(settling)
        raise IllError(Ill.ENGINE_STUCK)

    async def _open(self) -> None:
        connection = self._connection
        context = (await connection.call("Target.createBrowserContext"))["browserContextId"]
        made = {"url": "about:blank", "browserContextId": context}
        target = (await connection.call("Target.createTarget", made))["targetId"]
        attached = await connection.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        self._id = str(attached["sessionId"])
        self._frames.main = str(target)
        own = origins.site(self._first.url)
        self._cookies = OwnCookies(self._session.cookies, own, str(context))
        self._network = Network(
            engine=connection,
            session=self._id,
            tasks=self._tasks,
            web=self._web,
            frames=self._frames,
            jar=self._session.cookies,
            cookies=self._cookies,
            first=self._first,
            terms=self._wish.terms,
        )
        self._listen()
        for method in ("Page.enable", "Network.enable"):
            await connection.post(method, {}, session=self._id)
        source = scripts.watching(self._name, self._wish.agent, self._own_storage(), console=self._wish.console)
        await self._call("Page.addScriptToEvaluateOnNewDocument", {"source": source})
        await self._cookies.hand_over(connection, self._id)
        await self._call("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})
        await connection.post("Page.navigate", {"url": self._first.url}, session=self._id)

    def _own_storage(self) -> Mapping[str, OriginStorage]:
        origin = origins.origin(self._first.url)
        return {origin: stored} if (stored := self._session.origins.get(origin)) else {}

    def _listen(self) -> None:
        listen = self._connection.listen
        listen("Fetch.requestPaused", self._network.paused)
        listen("Page.frameAttached", lambda params, _: self._frames.attached(params))
        listen("Page.frameNavigated", self._navigated)
        listen("Page.frameStoppedLoading", self._stopped)
        self._tasks.start_soon(self._wake)

    def _navigated(self, params: dict[str, Any], _: str) -> None:
        self._frames.navigated(params)
        if params.get("frame", {}).get("id") == self._frames.main:
            self._loaded = False

    def _stopped(self, params: dict[str, Any], _: str) -> None:
        if params.get("frameId") == self._frames.main:
            self._loaded = True
            self._network.touch()

    async def _wake(self) -> None:
        await self._connection.closed.wait()
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
            if not self._loaded or (network.in_flight and not self._patient()):
                await self._news()
                settle.again()
                continue
            self._reading = await self._read_state()
            quiet_ms = (anyio.current_time() - network.touched_at) * 1000
            step = settle.look(self._reading, quiet_ms)
            if isinstance(step, Settling):
                if not await self._wanted():
                    step = POLL_MS
                else:
                    return step
            await self._pause(step)
        return Settling.HARD

    def _patient(self) -> bool:
        waited = self._network.newest_ms(anyio.current_time())
        return waited > _PATIENT_MS and self._reading.chars >= THIN_CHARS

    async def _news(self) -> None:
        """Wait until something happens on the network; look again by and by, as a request may never end."""
        if self._connection.closed.is_set():
            await self._call("Page.getFrameTree", {})  # says what has happened
        with anyio.move_on_after(SOFT_MS / 4_000):
            await self._network.changed()

    async def _pause(self, ms: float) -> None:
        with anyio.move_on_after(ms / 1000):
            await self._network.changed()

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
        stored = await self._stored()
        await self._cookies.take_back(self._connection)
        if self._reading.n_dialog_loop:
            limit = "dialog_loop"
        document = self._frames.document(self._frames.main) or self._first.url
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
        """Evaluate in a world of our own, whose prototypes no page has touched."""
        try:
            made = await self._call("Page.createIsolatedWorld", {"frameId": self._frames.main, "worldName": _WORLD})
        except CdpError:
            return None
        return await self._evaluate(expression, made["executionContextId"])

    async def _evaluate(self, expression: str, context: int | None = None) -> object:
        params: dict[str, Any] = {"expression": expression, "returnByValue": True}
        if context is not None:
            params["contextId"] = context
        try:
            answer = await self._call("Runtime.evaluate", params)
        except CdpError:
            return None
        return answer.get("result", {}).get("value")

    async def _call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        return await self._connection.call(method, params, session=self._id)


def _decoded(told: object, kind: type[T]) -> T | None:
    if not isinstance(told, str):
        return None
    try:
        return msgspec.json.decode(told, type=kind)
    except msgspec.DecodeError:
        return None
