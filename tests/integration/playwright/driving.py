"""A browser session that is driven step by step, as the browser tools do it."""

from __future__ import annotations

import secrets
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
import pytest
from msgspec.structs import replace

from protocol.browsers.operations import (
    SESSION_PREFIX,
    Click,
    CloseSession,
    ExecuteJavascript,
    FindElement,
    Navigate,
    Operation,
)
from protocol.browsers.results import Acted, Done, Evaluated, Found, Navigated
from protocol.browsers.sessions import AskBrowser
from protocol.faults import Code, Fault, FaultError
from tests.integration.playwright.browsing import Browsing, browsing, page

LIMIT_S = 240.0

D = TypeVar("D")


@dataclass(frozen=True)
class Driving:
    """A session of an actor that works."""

    web: Browsing
    session: str
    caller: str = "driver"

    def do(self, do: Operation, kind: type[D], *, local: bool = True) -> D:
        """Do something, which comes to an answer of this kind."""
        done = self.web.portal.call(self._do, do, local)
        assert isinstance(done, kind), done
        return done

    def fault(self, do: Operation, *, local: bool = True) -> Fault:
        """Do something that fails."""
        with pytest.raises(FaultError) as caught:
            self.web.portal.call(self._do, do, local)
        return caught.value.fault

    def code(self, do: Operation) -> Code | None:
        """Do something that may fail, and tell how it did."""
        try:
            self.do(do, object)
        except FaultError as error:
            return error.fault.code
        return None

    def race(self, *todo: Operation) -> list[Fault]:
        """Do several things at once, some of which fail, and tell how."""
        return self.web.portal.call(self._race, todo)

    def together(self, *todo: Operation) -> list[Done]:
        """Do several things at once."""
        return self.web.portal.call(self._together, todo)

    def show(self, html: str, **options: str | int) -> Navigated:
        """Go to a page with this markup."""
        return self.do(Navigate(url=self.url(page(html, **options))), Navigated)

    def url(self, path: str) -> str:
        """Return an address of the site."""
        return self.web.site.url(path)

    def id_of(self, query: str, tab: int | None = None) -> str:
        """Find the id of an element."""
        return self.do(FindElement(query=query, tab_id=tab), Found).candidates[0].id

    def click(self, query: str) -> Acted:
        """Click what is found by these words."""
        return self.do(Click(element_id=self.id_of(query)), Acted)

    def js(self, script: str, tab: int | None = None) -> Any:
        """Look into the page."""
        return self.do(ExecuteJavascript(script=script, tab_id=tab), Evaluated).result

    def breathe(self) -> None:
        """Let the page go on for a moment, before it is looked at again."""
        self.web.portal.call(anyio.sleep, 0.02)

    async def _do(self, do: Any, local: bool) -> Done:  # noqa: FBT001 - a portal hands on no names
        named = _named(do, self.session)
        asked = AskBrowser(do=named, caller=self.caller, at_need=True, local=local)
        with anyio.fail_after(LIMIT_S):
            return (await self.web.actor.ask_session(asked)).done

    async def _race(self, todo: tuple[Operation, ...]) -> list[Fault]:
        faults = list[Fault]()

        async def one(do: Operation) -> None:
            try:
                await self._do(do, True)  # noqa: FBT003
            except FaultError as error:
                faults.append(error.fault)

        async with anyio.create_task_group() as tasks:
            for do in todo:
                tasks.start_soon(one, do)
        return faults

    async def _together(self, todo: tuple[Operation, ...]) -> list[Done]:
        done = dict[int, Done]()

        async def one(index: int) -> None:
            done[index] = await self._do(todo[index], True)  # noqa: FBT003

        async with anyio.create_task_group() as tasks:
            for index in range(len(todo)):
                tasks.start_soon(one, index)
        return [done[index] for index in range(len(todo))]


def _named(do: Any, session: str) -> Any:
    return do if do.session_id else replace(do, session_id=session)


@contextmanager
def site_and_browser(**settings: Any) -> Generator[Browsing]:
    """Run an actor whose sessions may do everything."""
    with browsing(browser_javascript=True, **settings) as web:
        yield web


@contextmanager
def driving(web: Browsing, caller: str = "driver") -> Generator[Driving]:
    """Drive a session of its own, which is closed at the end."""
    driven = Driving(web, f"{SESSION_PREFIX}{secrets.token_urlsafe(16)}", caller)
    yield driven
    driven.do(CloseSession(), object)


def code(fault: Fault) -> tuple[Code, str | None]:
    """Return what a client tells faults apart by."""
    return fault.code, fault.field
