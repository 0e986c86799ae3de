"""A browser with one tab on the site, in a thread of its own, for tests of how a page looks."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Concatenate, ParamSpec, TypeVar

import anyio
import anyio.from_thread
from anyio.from_thread import BlockingPortal

from actors.fetchers.logins import Login
from actors.fetchers.playwright import view
from actors.fetchers.playwright.browser import Browser
from actors.fetchers.playwright.stability import FOR_FETCH
from actors.fetchers.playwright.tab import Tab, new_tab
from actors.settings import Settings
from protocol.acting.tree import PageTree
from protocol.browsers.operations import FindElement, GetPageContent, GetPageInfo, ReadTree
from protocol.browsers.pageinfo import Candidate, Element
from protocol.browsers.results import PageContent, PageInfo
from tests.integration.playwright.markup import page
from tests.site import Site, serve_site

LIMIT_S = 240.0
"""What one step may take before a test fails."""

_BY_VALUE = {"returnByValue": True, "awaitPromise": True}
_DRAWN = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Viewing:
    """One tab, and the site that it is on; everything that is asked waits in the loop of the browser."""

    site: Site
    browser: Browser
    tab: Tab
    portal: BlockingPortal

    def do(self, step: Callable[Concatenate[Tab, P], Awaitable[T]], *args: P.args, **options: P.kwargs) -> T:
        """Have something done in the tab."""

        async def bounded() -> T:
            with anyio.fail_after(LIMIT_S):
                return await step(self.tab, *args, **options)

        return self.portal.call(bounded)

    def open(self, where: str) -> None:
        """Go to a path of the site, or to an address, and wait until the page is settled."""
        self.do(_opened, self.site.url(where) if where.startswith("/") else where)

    def show(self, html: str, **options: str | int) -> None:
        """Show a page of this markup."""
        self.open(page(html, **options))

    def info(self, **options: Any) -> PageInfo:
        """Describe the page."""
        return self.do(view.describe, GetPageInfo(**options))

    def elements(self, **options: Any) -> dict[str, Element]:
        """Return all the elements by their ids."""
        options.setdefault("max_elements", 1_000)
        return {element.id: element for element in self.info(**options).elements}

    def labels(self, **options: Any) -> dict[str, str]:
        """Return the labels by ids."""
        return {name: element.label for name, element in self.elements(**options).items()}

    def content(self, **options: Any) -> PageContent:
        """Read the page."""
        return self.do(view.read, GetPageContent(**options))

    def find(self, query: str) -> tuple[Candidate, ...]:
        """Find elements."""
        return self.do(view.find, FindElement(query=query)).candidates

    def tree(self, **options: Any) -> PageTree:
        """Read the page as short nodes."""
        return self.do(view.read_tree, ReadTree(**options)).tree

    def run(self, script: str) -> Any:
        """Run a script among those of the page, and let what follows from it be drawn."""
        return self.do(_ran, script)

    def at(self, element_id: str, script: str) -> Any:
        """Evaluate a function of the live element behind an id."""
        return self.do(_told, element_id, script)


async def _opened(one: Tab, url: str) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    await one.go(url, deadline_s)
    await one.settle(FOR_FETCH, deadline_s)


async def _ran(one: Tab, script: str) -> Any:
    """Evaluate without Playwright's own script beside it, which a page may have broken."""
    told = await one.world.cdp.send("Runtime.evaluate", {"expression": script, **_BY_VALUE})
    assert "exceptionDetails" not in told, told["exceptionDetails"]
    await one.world.cdp.send("Runtime.evaluate", {"expression": _DRAWN, **_BY_VALUE})
    return told["result"].get("value")


async def _told(one: Tab, element_id: str, script: str) -> Any:
    return await (await view.locate(one, element_id)).evaluate(script)


@contextmanager
def viewing() -> Generator[Viewing]:
    """Run a browser and the site while the block lasts."""
    with (
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(_running()) as (site, browser, one),
    ):
        yield Viewing(site, browser, one, portal)


@contextmanager
def beside(web: Viewing) -> Generator[Viewing]:
    """Open one more tab in the same browser, with a context of its own, while the block lasts."""
    with web.portal.wrap_async_context_manager(_tab(web.browser)) as one:
        yield replace(web, tab=one)


@asynccontextmanager
async def _running() -> AsyncGenerator[tuple[Site, Browser, Tab]]:
    async with (
        serve_site() as site,
        Browser(Settings(allow_private=("127.0.0.0/8",))) as browser,
        _tab(browser) as one,
    ):
        yield site, browser, one


@asynccontextmanager
async def _tab(browser: Browser) -> AsyncGenerator[Tab]:
    async with browser.context(Login()) as context, new_tab(context) as one:
        yield one
