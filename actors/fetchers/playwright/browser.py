"""Holds the one warm browser of a replica, and lends contexts of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self

import anyio
import anyio.abc
from playwright.async_api import BrowserContext, Error, Page

from actors.fetchers.playwright import chromium, faults, storage
from actors.fetchers.playwright.engine import Engine
from actors.fetchers.playwright.proxy import Proxy
from actors.fetchers.sessions import Session
from actors.fetchers.web import guard
from protocol.faults import Code, FaultError, fault

MAX_TABS = 50
"""Tabs of one replica (002 §8.5)."""

MAX_TABS_OF_SESSION = 20
"""Tabs of one session (002 §8.5)."""

_CLOSE_S = 5.0
_STOP_S = 8.0
_START_S = 60.0
_WINDOW_WIDTH, _WINDOW_HEIGHT = 1_280, 800
_LOCALE = "en-US"


class BrowserSettings(chromium.ChromiumSettings, Protocol):
    """What the browser reads of the settings."""

    @property
    def browser_max_bytes(self) -> int:
        """Memory beyond which a browser is replaced."""
        ...

    @property
    def fetch_user_agent(self) -> str:
        """How Weft calls itself."""
        ...

    @property
    def fetch_connect_timeout_ms(self) -> int:
        """How long connecting may take."""
        ...

    @property
    def fetch_ca_file(self) -> str:
        """PEM file of further certificate authorities, or nothing."""
        ...

    @property
    def allow_private(self) -> tuple[str, ...]:
        """Private networks that may be fetched from."""
        ...


@dataclass(eq=False)
class Context:
    """A session in the browser, with cookies and storage of its own; `raw` is Playwright's."""

    raw: BrowserContext
    session: Session
    proxy: Proxy
    restoring: storage.Restoring
    _browser: Browser
    _engine: Engine

    @property
    def lives(self) -> bool:
        """Whether the browser is still there, and can be spoken to."""
        browser = self.raw.browser
        return self._engine.raw is not None and browser is not None and browser.is_connected()

    @property
    def crowded(self) -> bool:
        """Whether there are more tabs than there may be."""
        return len(self.raw.pages) > MAX_TABS_OF_SESSION or self._browser.tabs > MAX_TABS

    async def page(self) -> Page:
        """Open a tab.

        Raises:
            FaultError: INTERNAL_BUSY where there are as many as there may be; PAGE_CRASHED where the browser is gone.
        """
        if len(self.raw.pages) >= MAX_TABS_OF_SESSION or self._browser.tabs >= MAX_TABS:
            raise FaultError(faults.no_room("The browser has as many tabs open as it may have."))
        self._engine.pages += 1
        try:
            return await self.raw.new_page()
        except Error as error:
            raise FaultError(fault(Code.PAGE_CRASHED)) from error

    def released(self) -> None:
        """Count it as closed."""
        self._engine.released()

    async def keep(self, pages: Sequence[Page] | None = None, *, whole: bool = True) -> None:
        """Take what the pages have left, cookies and storage, into the session (see `storage.keep`)."""
        await storage.keep(self.restoring, self.session, pages, whole=whole)


@dataclass(eq=False)
class Browser:
    """The browser of a replica: started at first need, then warm, and replaced by a fresh one when it is worn.

    Open with `async with`, which starts nothing.
    """

    settings: BrowserSettings
    resolve: guard.Resolve = guard.resolve
    _open: AsyncExitStack = field(default_factory=AsyncExitStack)
    _starting: anyio.Lock = field(default_factory=anyio.Lock)
    _contexts: set[Context] = field(default_factory=set[Context])
    _engines: set[Engine] = field(default_factory=set[Engine])
    _proxy: Proxy | None = None
    _engine: Engine | None = None
    _tasks: anyio.abc.TaskGroup | None = None

    async def __aenter__(self) -> Self:
        """Get ready to start a browser."""
        self._tasks = await self._open.enter_async_context(anyio.create_task_group())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End every browser, also those that still finish something."""
        with anyio.move_on_after(_STOP_S, shield=True):
            for engine in self._engines:
                engine.over.set()
            while self._engines:  # noqa: ASYNC110 - only here, and only while they end
                await anyio.sleep(0.01)
        if self._tasks is not None:
            self._tasks.cancel_scope.cancel()
        await self._open.__aexit__(kind, error, trace)

    @property
    def engine(self) -> Engine | None:
        """The browser that takes contexts now, if one was started."""
        return self._engine

    @property
    def tabs(self) -> int:
        """How many tabs are open."""
        return sum(len(context.raw.pages) for context in self._contexts)

    @asynccontextmanager
    async def context(self, session: Session) -> AsyncGenerator[Context]:
        """Lend a context with what the session remembers; the first that is lent starts the browser.

        Raises:
            FaultError: BROWSER_UNAVAILABLE, INTERNAL_BUSY or PAGE_CRASHED.
        """
        if len(self._contexts) >= MAX_TABS:
            raise FaultError(fault(Code.INTERNAL_BUSY, "The browser has as many sessions open as it may have."))
        engine, restoring = await self._opened(session)
        context = Context(restoring.context, session, self.door, restoring, self, engine)
        self._contexts.add(context)
        try:
            yield context
        finally:
            self._group.start_soon(self._close, context)

    async def _opened(self, session: Session) -> tuple[Engine, storage.Restoring]:
        """Open a context; a browser that turns out to be gone is replaced once."""
        for _ in range(2):
            engine = await self._warm()
            engine.contexts += 1
            try:
                if engine.raw is not None:
                    return engine, await self._context(engine, session)
            except Error:
                engine.over.set()
            except BaseException:
                engine.released()
                raise
            engine.released()
        raise FaultError(fault(Code.PAGE_CRASHED))

    async def _context(self, engine: Engine, session: Session) -> storage.Restoring:
        if engine.raw is None:
            raise FaultError(fault(Code.PAGE_CRASHED))
        context = await engine.raw.new_context(
            user_agent=user_agent(engine.user_agent, self.settings.fetch_user_agent),
            storage_state=storage.state_of(session),
            viewport={"width": _WINDOW_WIDTH, "height": _WINDOW_HEIGHT},
            locale=_LOCALE,
            accept_downloads=True,
        )
        restoring = storage.Restoring(context)
        restoring.begin(session)
        return restoring

    async def _warm(self) -> Engine:
        """Return the browser that takes contexts now, started by whoever needs it first."""
        async with self._starting:
            if self._engine is None or self._engine.spent:
                await self._renew()
            engine = self._engine
        assert engine is not None  # noqa: S101 - made above
        with anyio.fail_after(_START_S):
            await engine.ready.wait()
        if engine.raw is None and not engine.was_ready:
            raise FaultError(fault(Code.BROWSER_UNAVAILABLE, "The browser does not start; the log says why."))
        return engine

    async def _renew(self) -> None:
        executable = chromium.find(self.settings)
        if executable is None:
            raise FaultError(fault(Code.BROWSER_UNAVAILABLE))
        if self._engine is not None:
            self._engine.retire()
        if self._proxy is None:
            backend = guard.GuardedBackend(guard.networks(self.settings.allow_private), self.resolve)
            proxy = Proxy(backend, self.settings.fetch_connect_timeout_ms)
            await self._group.start(self._serve, proxy)
            self._proxy = proxy
        self._engine = Engine(
            executable,
            self.door,
            self.settings.browser_max_bytes,
            chromium.sandboxed(self.settings),
            self.settings.fetch_ca_file,
        )
        self._engines.add(self._engine)
        self._group.start_soon(self._run, self._engine)

    async def _serve(self, proxy: Proxy, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        async with proxy.serving():
            task_status.started()
            await anyio.sleep_forever()

    async def _run(self, engine: Engine) -> None:
        try:
            await engine.run()
        finally:
            self._engines.discard(engine)

    async def _close(self, context: Context) -> None:
        """Close a context after its user has gone on."""
        try:
            with anyio.move_on_after(_CLOSE_S), suppress(Error):
                await context.raw.close()
        finally:
            self._contexts.discard(context)
            context.released()

    @property
    def _group(self) -> anyio.abc.TaskGroup:
        if self._tasks is None:
            raise RuntimeError("the browser is not open")
        return self._tasks

    @property
    def door(self) -> Proxy:
        """The only way out of the browser."""
        if self._proxy is None:
            raise RuntimeError("the proxy does not serve")
        return self._proxy


def user_agent(browsers: str, ours: str) -> str:
    """Say what the browser is, and who drives it; an operator's text that is a whole one stands alone."""
    return ours if ours.startswith("Mozilla/") else f"{browsers} {ours}"
