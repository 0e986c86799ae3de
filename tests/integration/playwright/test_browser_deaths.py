"""Browser sessions in processes that are killed: real NATS, real Chromium, real kill -9."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from bus import Bus
from bus.nats.transport import connect
from protocol import subjects
from protocol.browsers.operations import (
    Click,
    CreateSession,
    ExecuteJavascript,
    FindElement,
    GetPageContent,
    Navigate,
    Operation,
)
from protocol.browsers.results import Done, Evaluated, Found
from protocol.browsers.sessions import AskBrowser, ListBrowsers
from protocol.faults import Code, Fault, FaultError
from tests.integration.playwright.browsing import page
from tests.site import Site, serve_site
from tests.support.nats import serve_open_nats
from tests.support.system import running_weft

pytestmark = [pytest.mark.browser, pytest.mark.nats, pytest.mark.timeout(900)]

TEST_S = 240.0
CALL_MS = 40_000
BUTTON = "<main><h1>Pay</h1><button onclick=\"fetch('/slow?ms=3000', {method: 'POST'})\">Pay now</button></main>"


@dataclass
class World:
    """A Weft of two browser replicas, with a participant on its bus."""

    site: Site
    bus: Bus

    async def do(self, do: Operation, order: str = "") -> Done:
        asked = AskBrowser(do=do, local=True, order=order)
        return (await self.bus.call(subjects.BROWSER, asked, timeout_ms=CALL_MS, wait_ms=5_000)).done

    async def words(self, session: str) -> str:
        """Read the page of the active tab."""
        done = await self.do(ExecuteJavascript(session_id=session, script="document.body.innerText"))
        assert isinstance(done, Evaluated)
        return str(done.result)

    async def button(self, session: str) -> Click:
        """Make the click of the first button of the page."""
        found = await self.do(FindElement(session_id=session, query="Pay now"))
        assert isinstance(found, Found)
        return Click(session_id=session, element_id=found.candidates[0].id)

    async def fault(self, do: Operation, order: str) -> Fault:
        with pytest.raises(FaultError) as caught:
            await self.do(do, order)
        return caught.value.fault

    async def owner(self, session: str) -> str:
        """Name the replica that a session lives in."""
        found = (await self.bus.call(subjects.BROWSERS, ListBrowsers())).sessions
        return next(one.replica for one in found if one.session == session)

    async def kill(self, replica: str) -> None:
        """End the process of a replica at once."""
        pid = next(one.pid for one in await self.bus.replicas(1_000) if one.replica == replica)
        os.kill(pid, signal.SIGKILL)


@asynccontextmanager
async def world(folder: Path) -> AsyncGenerator[World]:
    """Run the site, NATS and the replicas."""
    with anyio.fail_after(TEST_S):
        async with (
            serve_site() as site,
            serve_open_nats(folder / "nats") as url,
            running_weft(
                folder, ["--actors", "fetchers.playwright=2"], WEFT_NATS_URL=url, WEFT_BROWSER_JAVASCRIPT="true"
            ),
            connect(url, "asker", None) as transport,
            Bus(transport, "asker", "a1").running() as bus,
        ):
            yield World(site, bus)


@pytest.mark.full
@pytest.mark.slow
async def test_after_kill_9_the_next_call_goes_on_elsewhere_with_the_login(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        session = (await here.do(CreateSession(url=here.site.url("/account/login?user=smith")))).session_id
        owner = await here.owner(session)

        await here.kill(owner)
        words = await here.words(session)

        assert "Hello, smith" in words
        assert "Visits kept here: 2." in words
        assert await here.owner(session) != owner


@pytest.mark.full
@pytest.mark.slow
async def test_kill_9_in_the_middle_of_a_call_costs_its_caller_nothing_but_time(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        session = (await here.do(CreateSession(url=here.site.url("/account/login?user=smith")))).session_id
        owner = await here.owner(session)
        words = list[str]()

        async def navigate() -> None:
            await here.do(Navigate(session_id=session, url=here.site.url("/slow?ms=1500")))
            words.append(await here.words(session))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(navigate)
            while not here.site.hits["/slow"]:
                await anyio.sleep(0.01)
            await here.kill(owner)

        assert "Before a single row" in words[0]
        await here.do(Navigate(session_id=session, url=here.site.url("/account")))
        assert "Hello, smith" in await here.words(session)


@pytest.mark.slow
async def test_kill_9_in_the_middle_of_a_click_makes_no_second_one_of_it(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        session = (await here.do(CreateSession(url=here.site.url(page(BUTTON))))).session_id
        click, owner = await here.button(session), await here.owner(session)
        faults = list[Fault]()

        async def pay() -> None:
            faults.append(await here.fault(click, "order-1"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pay)
            while not here.site.hits["/slow"]:
                await anyio.sleep(0.01)
            await here.kill(owner)

        assert here.site.hits["/slow"] == 1
        (told,) = faults
        assert (told.code, told.retryable, "may have been done" in told.message) == (Code.EXECUTION_ERROR, False, True)
        assert [(one.action, one.tool_to_use) for one in told.actions] == [("look_again", "get_page_info")]
        assert await here.owner(session) != owner
        await here.do(GetPageContent(session_id=session))
        await here.do(await here.button(session), "order-2")
        assert here.site.hits["/slow"] == 2
