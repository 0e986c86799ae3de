"""Evaluates in a page: in a world of our own, where no script of the page has changed anything, or in the page's."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import anyio
import msgspec
from playwright.async_api import Error

from actors.fetchers.playwright import faults
from actors.fetchers.playwright.cdp import Cdp

T = TypeVar("T")

_NAME = "weft"
_PATIENCE_S = 5.0
"""How long a page may take to answer before it counts as hung; a large bundle keeps a slow machine that busy."""

_BETWEEN_S = 0.03
_STOP_S = 0.5


class HungError(Exception):
    """The page does not answer: its scripts never end, or no document comes."""


class CrashedError(Exception):
    """The page is gone, and nothing that it is asked will ever be answered."""


@dataclass(eq=False)
class World:
    """What can be asked of the main document of a tab, whichever it is at the moment."""

    cdp: Cdp
    frame: str
    crashed: bool = field(default=False, init=False)
    _waits: set[anyio.CancelScope] = field(default_factory=set[anyio.CancelScope], init=False)
    _context: int = field(default=0, init=False)

    async def ask(self, expression: str, kind: type[T], within_s: float = _PATIENCE_S) -> T:
        """Evaluate in our own world, and in the next document where this one goes away.

        Raises:
            HungError: there was no answer within `within_s`, nor within five seconds.
            CrashedError: the page is gone.
            playwright.async_api.Error: the browser is gone.
        """
        with self._waiting(min(max(within_s, 0.05), _PATIENCE_S)):
            while True:
                try:
                    value = await self._evaluate(expression, {"contextId": await self._own()})
                    return msgspec.convert(value, kind)
                except Error as error:
                    if faults.is_crash(error):
                        raise
                except msgspec.ValidationError:
                    pass  # cut off while the document went away
                self._context = 0
                await anyio.sleep(_BETWEEN_S)
        raise HungError

    async def context(self) -> int:
        """Return the number of our own world, for what is asked of it by way of the session.

        Raises:
            playwright.async_api.Error: the document or the browser is gone.
        """
        return await self._own()

    async def ask_page(self, expression: str, kind: type[T], otherwise: T) -> T:
        """Evaluate among the page's own scripts, which may have changed the answer; `otherwise` for nonsense."""
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
        """Learn that the page is gone."""
        self.crashed = True
        for wait in self._waits:
            wait.cancel()

    async def stop(self) -> None:
        """Cut off the script that runs, and let no other begin; what stands can then be read."""
        for method, params in (
            ("Runtime.terminateExecution", {}),
            ("Emulation.setScriptExecutionDisabled", {"value": True}),
        ):
            with self._waiting(_STOP_S):
                await self.cdp.send(method, params)

    @contextmanager
    def _waiting(self, seconds: float) -> Generator[None]:
        """Wait no longer than this, nor for a page that is gone."""
        with anyio.move_on_after(0 if self.crashed else seconds) as scope:
            self._waits.add(scope)
            try:
                yield
            finally:
                self._waits.discard(scope)
        if self.crashed:
            raise CrashedError

    async def _own(self) -> int:
        if not self._context:
            wanted = {"frameId": self.frame, "worldName": _NAME}
            made = await self.cdp.send("Page.createIsolatedWorld", wanted)
            self._context = int(made["executionContextId"])
        return self._context

    async def _evaluate(self, expression: str, where: dict[str, Any]) -> Any:
        answer = await self.cdp.send(
            "Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True, **where}
        )
        return answer["result"].get("value")
