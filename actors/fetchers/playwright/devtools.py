"""Reaches into pages where Playwright has no call for it: CDP, the scripts of `scripts/`, an isolated world."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Protocol, TypeVar, cast

import anyio
import msgspec
from playwright.async_api import Browser, BrowserContext, ElementHandle, Error, Frame, Page, Playwright

from actors.fetchers.playwright import faults

T = TypeVar("T")

_WORLD_NAME = "weft"
FRAME_WORLD_NAME = "weft frame"
"""The world in frames: nodes that are taken into that of the page, to mark them, have the classes of its window."""

_WAY_SELECTOR = "weftway"
_PATIENCE_S = 5.0
"""How long a page may take to answer before it counts as hung; a large bundle keeps a slow machine that busy."""

_RETRY_S = 0.03
_STOP_S = 0.5

Way = tuple[int | str, ...]
"""The path of an element: child indexes from the document on; `s` enters a shadow root."""


class Cdp(Protocol):
    """A session with a page or the browser; what is sent fails with Playwright's Error."""

    async def send(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Call a method and return its result."""
        ...

    def on(self, event: str, f: Callable[[dict[str, Any]], Awaitable[None] | None]) -> None:
        """Subscribe a function to the events of a name."""
        ...


async def cdp_of_browser(browser: Browser) -> Cdp:
    """Open a session with the browser."""
    return cast("Cdp", await browser.new_browser_cdp_session())


async def cdp_of_page(context: BrowserContext, page: Page) -> Cdp:
    """Open a session with a page."""
    return cast("Cdp", await context.new_cdp_session(page))


async def cdp_of_frame(context: BrowserContext, frame: Frame) -> Cdp | None:
    """Open a session with a frame that has a process of its own; None for one that shares that of its page."""
    try:
        return cast("Cdp", await context.new_cdp_session(frame))
    except Error:
        return None


@cache
def script(name: str) -> str:
    """Read a script of `scripts/`."""
    return (resources.files("actors.fetchers.playwright") / "scripts" / f"{name}.js").read_text(encoding="utf-8")


async def register_way_selector(driver: Playwright) -> None:
    """Register a selector engine that finds elements by their way, out of reach of the page's scripts."""
    await driver.selectors.register(_WAY_SELECTOR, script("pointer"), content_script=True)


async def element_at(frame: Frame, way: Way) -> ElementHandle | None:
    """Return the element at the end of a way, if there is one now."""
    return await frame.query_selector(f"{_WAY_SELECTOR}={msgspec.json.encode(way).decode()}")


class HungError(Exception):
    """The page does not respond: its scripts never end, or no document arrives."""


class CrashedError(Exception):
    """The page is gone: no further call to it returns."""


@dataclass(eq=False)
class IsolatedWorld:
    """Evaluates in a frame: in a world of our own, out of reach of the page's scripts, or in the page's."""

    cdp: Cdp
    frame: str
    name: str = _WORLD_NAME
    crashed: bool = field(default=False, init=False)
    _waits: set[anyio.CancelScope] = field(default_factory=set[anyio.CancelScope], init=False)
    _context: int = field(default=0, init=False)

    async def evaluate(self, expression: str, kind: type[T], within_s: float = _PATIENCE_S) -> T:
        """Evaluate in our own world; retries in the next document where this one goes away.

        Raises:
            HungError: there was no answer within `within_s`, nor within five seconds.
            CrashedError: the page is gone.
            playwright.async_api.Error: the browser is gone.
        """
        with self._waiting(min(max(within_s, 0.05), _PATIENCE_S)):
            while True:
                try:
                    value = await self._evaluate(expression, {"contextId": await self._own_context()})
                    return msgspec.convert(value, kind)
                except Error as error:
                    if faults.is_crash(error):
                        raise
                except msgspec.ValidationError:
                    pass  # cut off while the document went away
                self._context = 0
                await anyio.sleep(_RETRY_S)
        raise HungError

    async def context(self) -> int:
        """Return the execution context id of our own world, for calls of the CDP session.

        Raises:
            playwright.async_api.Error: the document or the browser is gone.
        """
        return await self._own_context()

    async def install(self, source: str) -> None:
        """Run a script in our own worlds at the beginning of every later document of the page, and of its frames.

        Raises:
            playwright.async_api.Error: the page or the browser is gone.
        """
        with self._waiting(_PATIENCE_S):
            await self.cdp.send("Page.enable")  # without it the script is taken, and never run
            for where, name in (("self === top", _WORLD_NAME), ("self !== top", FRAME_WORLD_NAME)):
                parameters = {"source": f"if ({where}) {{ {source}\n}}", "worldName": name}
                await self.cdp.send("Page.addScriptToEvaluateOnNewDocument", parameters)

    async def evaluate_in_page(self, expression: str, kind: type[T], otherwise: T) -> T:
        """Evaluate among the page's own scripts, which may have tampered with the value; `otherwise` for nonsense."""
        with self._waiting(_PATIENCE_S):
            try:
                return msgspec.convert(await self._evaluate(expression, {}), kind)
            except msgspec.ValidationError:
                return otherwise
            except Error as error:
                if faults.is_crash(error):
                    raise
                return otherwise
        raise HungError

    def crash(self) -> None:
        """Mark the page as gone, and cancel every wait for it."""
        self.crashed = True
        for wait in self._waits:
            wait.cancel()

    async def stop(self) -> None:
        """Terminate the script that runs, and let no other begin; the document can then be read."""
        for method, params in (
            ("Runtime.terminateExecution", {}),
            ("Emulation.setScriptExecutionDisabled", {"value": True}),
        ):
            with self._waiting(_STOP_S):
                await self.cdp.send(method, params)

    @contextmanager
    def _waiting(self, seconds: float) -> Generator[None]:
        """Bound a wait by this time, and by the life of the page."""
        with anyio.move_on_after(0 if self.crashed else seconds) as scope:
            self._waits.add(scope)
            try:
                yield
            finally:
                self._waits.discard(scope)
        if self.crashed:
            raise CrashedError

    async def _own_context(self) -> int:
        if not self._context:
            parameters = {"frameId": self.frame, "worldName": self.name}
            created = await self.cdp.send("Page.createIsolatedWorld", parameters)
            self._context = int(created["executionContextId"])
        return self._context

    async def _evaluate(self, expression: str, where: dict[str, Any]) -> Any:
        response = await self.cdp.send(
            "Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True, **where}
        )
        return response["result"].get("value")
