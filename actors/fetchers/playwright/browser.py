"""The one warm browser of a replica: opens contexts in it, and replaces its process when it is worn."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import anyio
import anyio.abc
from playwright.async_api import BrowserContext, Error, Page

from actors.fetchers.logins import Login
from actors.fetchers.playwright import chromium, faults, storage
from actors.fetchers.playwright.browser_sandbox import of_this_machine
from actors.fetchers.playwright.chromium_process import ChromiumProcess
from actors.fetchers.playwright.memory import MemoryLimits
from actors.fetchers.playwright.proxy import Proxy
from actors.settings import Settings
from actors.web import guard
from protocol.faults import Code, FaultError, fault
from protocol.replicas import Absence

MAX_TABS = 50
"""Tabs of one replica (002 §8.5)."""

MAX_TABS_OF_SESSION = 20
"""Tabs of one session (002 §8.5)."""

_CLOSE_S = 5.0
_STOP_S = 8.0
_START_S = 60.0
_WINDOW_WIDTH, _WINDOW_HEIGHT = 1_280, 800
_LOCALE = "en-US"


@dataclass(eq=False)
class SessionContext:
    """A context of the browser with the cookies and storage of one session; `raw` is Playwright's."""

    raw: BrowserContext
    session: Login
    proxy: Proxy
    restorer: storage.StorageRestorer
    _browser: Browser
    _process: ChromiumProcess

    @property
    def is_alive(self) -> bool:
        """Whether the browser runs, and is connected."""
        browser = self.raw.browser
        return self._process.raw is not None and browser is not None and browser.is_connected()

    @property
    def max_bytes(self) -> int:
        """The bytes of one page at most, after decompression."""
        return self._browser.settings.fetch_max_bytes

    @property
    def is_overfull(self) -> bool:
        """Whether there are more tabs than there may be."""
        return len(self.raw.pages) > MAX_TABS_OF_SESSION or self._browser.tabs > MAX_TABS

    async def page(self) -> Page:
        """Open a tab.

        Raises:
            FaultError: INTERNAL_BUSY where there are as many as there may be; PAGE_CRASHED where the browser is gone.
        """
        most = MAX_TABS if self.raw.pages else self._browser.most_contexts
        if len(self.raw.pages) >= MAX_TABS_OF_SESSION or self._browser.tabs >= most:
            raise FaultError(faults.no_room("The browser has as many tabs open as it may have."))
        self._process.pages += 1
        try:
            return await self.raw.new_page()
        except Error as error:
            raise FaultError(fault(Code.PAGE_CRASHED)) from error

    def excess(self) -> int:
        """Return the limit of memory, in bytes, for which a page of the browser was ended just now; 0 for none."""
        return self._process.watch.excess() if self._process.watch else 0

    def strained(self) -> bool:
        """Return whether events of pages come faster than they are read."""
        return self._process.strained

    def released(self) -> None:
        """Count this context as closed."""
        self._process.released()

    async def save(self, pages: Sequence[Page] | None = None, *, whole: bool = True) -> None:
        """Save cookies and storage of the pages into the session (see `storage.save`)."""
        await storage.save(self.restorer, self.session, pages, whole=whole)


@dataclass(eq=False)
class Browser:
    """Opens contexts in a Chromium process, which is started at first need and replaced when it is worn.

    Open with `async with`, which starts nothing.
    """

    settings: Settings
    resolve: guard.Resolve = guard.resolve
    _open: AsyncExitStack = field(default_factory=AsyncExitStack)
    _starting: anyio.Lock = field(default_factory=anyio.Lock)
    _contexts: set[SessionContext] = field(default_factory=set[SessionContext])
    _closing: set[SessionContext] = field(default_factory=set[SessionContext])
    _processes: set[ChromiumProcess] = field(default_factory=set[ChromiumProcess])
    _proxy: Proxy | None = None
    _process: ChromiumProcess | None = None
    _tasks: anyio.abc.TaskGroup | None = None

    async def __aenter__(self) -> Self:
        """Open the task group of the browser processes."""
        self._tasks = await self._open.enter_async_context(anyio.create_task_group())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End every process, also those that still finish something."""
        with anyio.move_on_after(_STOP_S, shield=True):
            for process in self._processes:
                process.over.set()
            while self._processes:  # noqa: ASYNC110 - only here, and only while they end
                await anyio.sleep(0.01)
        if self._tasks is not None:
            self._tasks.cancel_scope.cancel()
        await self._open.__aexit__(kind, error, trace)

    @property
    def process(self) -> ChromiumProcess | None:
        """The process that takes contexts now, if one was started."""
        return self._process

    @property
    def tabs(self) -> int:
        """Count the open tabs."""
        return sum(len(context.raw.pages) for context in self._contexts)

    @property
    def most_contexts(self) -> int:
        """How many contexts there may be: sessions never take the places of the pages that are fetched."""
        return MAX_TABS + self.settings.browser_pages

    @property
    def staying_tabs(self) -> int:
        """Count the open tabs, those apart that are being closed."""
        return sum(len(context.raw.pages) for context in self._contexts - self._closing)

    @asynccontextmanager
    async def context(self, session: Login, *, inert: bool = False) -> AsyncGenerator[SessionContext]:
        """Open a context with what the session remembers; the first one starts the browser.

        An `inert` one runs no script of a page and reaches nothing.

        Raises:
            FaultError: BROWSER_UNAVAILABLE, INTERNAL_BUSY or PAGE_CRASHED.
        """
        if len(self._contexts - self._closing) >= self.most_contexts:
            raise FaultError(fault(Code.INTERNAL_BUSY, "The browser has as many sessions open as it may have."))
        process, restorer = await self._open_context(session, inert=inert)
        context = SessionContext(restorer.context, session, self.proxy, restorer, self, process)
        self._contexts.add(context)
        try:
            yield context
        finally:
            self._closing.add(context)
            self._group.start_soon(self._close, context)

    async def _open_context(self, session: Login, *, inert: bool) -> tuple[ChromiumProcess, storage.StorageRestorer]:
        """Open a context; a process that turns out to be gone is replaced once."""
        for _ in range(2):
            process = await self._current_process()
            process.contexts += 1
            try:
                if process.raw is not None:
                    return process, await self._restored_context(process, session, inert=inert)
            except Error:
                process.over.set()
            except BaseException:
                process.released()
                raise
            process.released()
        raise FaultError(fault(Code.PAGE_CRASHED))

    async def _restored_context(
        self, process: ChromiumProcess, session: Login, *, inert: bool
    ) -> storage.StorageRestorer:
        if process.raw is None:
            raise FaultError(fault(Code.PAGE_CRASHED))
        context = await process.raw.new_context(
            user_agent=user_agent(process.user_agent, self.settings.fetch_user_agent),
            storage_state=storage.state_of(session),
            viewport={"width": _WINDOW_WIDTH, "height": _WINDOW_HEIGHT},
            locale=_LOCALE,
            accept_downloads=not inert,
            java_script_enabled=not inert,
            offline=inert,
        )
        restorer = storage.StorageRestorer(context)
        restorer.prepare(session)
        return restorer

    async def _current_process(self) -> ChromiumProcess:
        """Return the process that takes contexts now, started by the first caller who needs it."""
        async with self._starting:
            if self._process is None or self._process.spent:
                await self._replace_process()
            process = self._process
        assert process is not None  # noqa: S101 - made above
        with anyio.fail_after(_START_S):
            await process.ready.wait()
        if process.raw is None and not process.was_ready:
            raise FaultError(fault(Code.BROWSER_UNAVAILABLE, "The browser does not start; the log says why."))
        return process

    async def _replace_process(self) -> None:
        executable = chromium.find(self.settings)
        sandbox = of_this_machine(self.settings.browser_sandbox)
        if executable is None or isinstance(sandbox, Absence):
            raise FaultError(fault(Code.BROWSER_UNAVAILABLE))
        if self._process is not None:
            self._process.retire()
        if self._proxy is None:
            backend = guard.GuardedBackend(guard.networks(self.settings.allow_private), self.resolve)
            proxy = Proxy(backend, self.settings.fetch_connect_timeout_ms)
            await self._group.start(self._serve, proxy)
            self._proxy = proxy
        self._process = ChromiumProcess(
            executable,
            self.proxy,
            MemoryLimits(
                self.settings.browser_max_bytes,
                self.settings.browser_page_max_bytes,
                self.settings.browser_all_max_bytes,
            ),
            sandbox,
            self.settings.fetch_ca_file,
        )
        self._processes.add(self._process)
        self._group.start_soon(self._run, self._process)

    async def _serve(self, proxy: Proxy, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        async with proxy.serving():
            task_status.started()
            await anyio.sleep_forever()

    async def _run(self, process: ChromiumProcess) -> None:
        try:
            await process.run()
        finally:
            self._processes.discard(process)

    async def _close(self, context: SessionContext) -> None:
        """Close a context after its user has left it."""
        try:
            with anyio.move_on_after(_CLOSE_S), suppress(Error):
                await context.raw.close()
        finally:
            self._contexts.discard(context)
            self._closing.discard(context)
            context.released()

    @property
    def _group(self) -> anyio.abc.TaskGroup:
        if self._tasks is None:
            raise RuntimeError("the browser is not open")
        return self._tasks

    @property
    def proxy(self) -> Proxy:
        """The only way out of the browser; raises RuntimeError before it serves."""
        if self._proxy is None:
            raise RuntimeError("the proxy does not serve")
        return self._proxy


def user_agent(browsers: str, ours: str) -> str:
    """Append Weft's user agent to the browser's; a complete one of the operator's replaces it."""
    return ours if ours.startswith("Mozilla/") else f"{browsers} {ours}"


async def close_page(page: Page) -> None:
    """Close a page, such as a window that another opened, which nobody reads."""
    with suppress(Error):
        await page.close()
