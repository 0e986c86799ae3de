"""One Chromium process and Playwright's driver for it, from start to end."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import structlog
from anyio import CapacityLimiter
from playwright.async_api import Browser, Error, Playwright, async_playwright

from actors.fetchers.playwright import authorities, chromium, devtools
from actors.fetchers.playwright.browser_sandbox import BrowserSandbox, write_launcher
from actors.fetchers.playwright.memory import MemoryLimits, MemoryWatch, children, with_mark
from actors.fetchers.playwright.proxy import Proxy

log = structlog.stdlib.get_logger()

STARTED = "browser_started"
NOT_STARTED = "browser_not_started"
ENDED = "browser_ended"
LOST = "browser_lost"

_START_S = 30.0
_STOP_S = 5.0
_ASK_S, _IDLE_ASK_S = 0.5, 5.0
"""How often a browser with pages, and one without, is asked for a sign of life."""

_LATE_S = 1.0
"""A browser that takes so long for it has events of pages before it that nobody has read yet."""

_SILENCE_S = 30.0
"""A browser that does not respond for so long is given up, with its pages."""

_MAX_AGE_S = 3_600.0
_MAX_PAGES = 500
"""After so many pages, or so long, a fresh process replaces what has leaked."""

_FOLDER = "weft-browser-"


@dataclass(eq=False)
class ChromiumProcess:
    """Takes contexts until it is `spent`, lives while one is open, and is then ended."""

    executable: Path
    proxy: Proxy
    limits: MemoryLimits
    sandbox: BrowserSandbox
    ca_file: str = ""
    ready: anyio.Event = field(default_factory=anyio.Event)
    over: anyio.Event = field(default_factory=anyio.Event)
    contexts: int = 0
    pages: int = 0
    watch: MemoryWatch | None = None
    user_agent: str = ""
    _started_s: float = 0.0
    _asked_s: float = 0.0
    _was_late: bool = False
    _retired: bool = False
    _raw: Browser | None = None

    @property
    def raw(self) -> Browser | None:
        """Playwright's browser while it lives."""
        return None if self.over.is_set() else self._raw

    @property
    def bytes_used(self) -> int:
        """The memory that it holds with all its pages."""
        return self.watch.held if self.watch else 0

    @property
    def was_ready(self) -> bool:
        """Whether it ever took a context."""
        return self._raw is not None

    @property
    def spent(self) -> bool:
        """Whether it takes no further context."""
        return self._retired or self.over.is_set() or (self.ready.is_set() and self._worn())

    @property
    def strained(self) -> bool:
        """Whether events of pages come faster than they are read."""
        return self._was_late or (self._asked_s > 0 and self._is_late())

    def retire(self) -> None:
        """Take no further context, and end when the last is closed."""
        self._retired = True
        self._end_if_idle()

    def released(self) -> None:
        """Count a context as closed."""
        self.contexts -= 1
        self._end_if_idle()

    async def run(self) -> None:
        """Start Chromium, wait until it is over, and remove its folder and processes."""
        try:
            with tempfile.TemporaryDirectory(prefix=f"{_FOLDER}{os.getpid()}-", ignore_cleanup_errors=True) as folder:
                await anyio.to_thread.run_sync(_sweep)
                if self.ca_file:
                    await authorities.trust(Path(folder), self.ca_file)
                await self._run_browser(Path(folder))
        finally:
            self.over.set()
            self.ready.set()

    def _worn(self) -> bool:
        age_s = anyio.current_time() - self._started_s
        return age_s > _MAX_AGE_S or self.pages >= _MAX_PAGES or self.bytes_used > self.limits.worn

    def _end_if_idle(self) -> None:
        if self._retired and self.contexts == 0:
            self.over.set()

    async def _run_browser(self, folder: Path) -> None:
        before = set(_drivers())
        try:
            with anyio.fail_after(_START_S):
                driver = await async_playwright().start()
                await devtools.register_way_selector(driver)
        except Exception as error:  # noqa: BLE001 - Playwright raises Exception itself where its driver dies
            log.warning(NOT_STARTED, reason=type(error).__name__)
            _kill(set(_drivers()) - before)
            return
        driver_pids = set(_drivers()) - before
        try:
            async with self._launch(driver, folder) as browser:
                await self._watch(browser)
        except (Error, OSError, TimeoutError) as error:
            log.warning(LOST if self.ready.is_set() else NOT_STARTED, reason=type(error).__name__)
        finally:
            self.over.set()
            with anyio.move_on_after(_STOP_S, shield=True) as stopping, suppress(Exception):  # as where it starts
                await driver.stop()
            stuck = driver_pids & set(_drivers()) if stopping.cancelled_caught else set[int]()
            _kill(stuck | set(with_mark(str(folder))))
            log.info(ENDED, pages=self.pages)

    @asynccontextmanager
    async def _launch(self, driver: Playwright, folder: Path) -> AsyncGenerator[Browser]:
        with anyio.fail_after(_START_S):
            program = write_launcher(self.sandbox, folder, self.executable, self.proxy.port)
            browser = await driver.chromium.launch(
                executable_path=program,
                headless=True,
                args=[*chromium.ARGUMENTS, f"--crash-dumps-dir={folder}"],
                ignore_default_args=chromium.UNWANTED,
                chromium_sandbox=self.sandbox.own,
                proxy={"server": self.proxy.server, "bypass": "<-loopback>"},
                env=chromium.environment(folder),
                downloads_path=folder,
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
        browser.on("disconnected", lambda _: self.over.set())
        try:
            yield browser
        finally:
            with anyio.move_on_after(_STOP_S, shield=True), suppress(Error):
                await browser.close()

    async def _watch(self, browser: Browser) -> None:
        """Watch its memory until it is over; a driver that is gone raises Error."""
        session = await devtools.cdp_of_browser(browser)
        self.user_agent = str((await session.send("Browser.getVersion"))["userAgent"])
        self._raw, self._started_s = browser, anyio.current_time()
        self.ready.set()
        log.info(STARTED, version=browser.version)
        response = await session.send("SystemInfo.getProcessInfo")
        root = next(int(one["id"]) for one in response["processInfo"] if one["type"] == "browser")
        self.watch = MemoryWatch(root, self.limits, lambda: self.contexts > 0)
        broken: Exception | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(anyio.to_thread.run_sync, self.watch.run, limiter=CapacityLimiter(1)))
            try:
                await self._until_over(session)
            except (Error, TimeoutError) as error:
                broken = error  # a task group would wrap it
            finally:
                self.watch.stop()
        if broken is not None:
            raise broken

    async def _until_over(self, session: devtools.Cdp) -> None:
        """Wait until it is over; a browser that is silent raises TimeoutError."""
        while not self.over.is_set():
            with anyio.move_on_after(_ASK_S if self.contexts else _IDLE_ASK_S):
                await self.over.wait()
                return
            self._asked_s = anyio.current_time()
            with anyio.fail_after(_SILENCE_S):
                await session.send("Browser.getVersion")
            self._was_late, self._asked_s = self._is_late(), 0.0

    def _is_late(self) -> bool:
        return anyio.current_time() - self._asked_s > _LATE_S


def _drivers() -> Iterator[int]:
    """Find Playwright's drivers among the children of this process."""
    return children(os.getpid(), "playwright/driver")


def _kill(pids: set[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)


def _sweep() -> None:
    """Remove the folders of browsers whose process was killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*-*"):
        pid = folder.name.removeprefix(_FOLDER).partition("-")[0]
        if pid.isdecimal() and sys.platform == "linux" and not Path("/proc", pid).exists():
            shutil.rmtree(folder, ignore_errors=True)
