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
from protocol.browsers import AskBrowser, BrowserAnswer, ListBrowsers, Navigate, OpenBrowser, Operation, ReadTab
from tests.site import Site, serve_site
from tests.support.nats import serve_open_nats
from tests.support.system import running_weft

pytestmark = [pytest.mark.browser, pytest.mark.nats, pytest.mark.timeout(120)]

TEST_S = 100.0
CALL_MS = 40_000


@dataclass
class World:
    """A Weft of two browser replicas, with a participant on its bus."""

    site: Site
    bus: Bus

    async def do(self, do: Operation) -> BrowserAnswer:
        return await self.bus.call(subjects.BROWSER, AskBrowser(do=do), timeout_ms=CALL_MS, wait_ms=5_000)

    async def owner(self, session: str) -> str:
        """Name the replica that a session lives in."""
        found = (await self.do(ListBrowsers())).sessions
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
            running_weft(folder, ["--actors", "fetchers.playwright=2"], WEFT_NATS_URL=url),
            connect(url, "asker", None) as transport,
            Bus(transport, "asker", "a1").running() as bus,
        ):
            yield World(site, bus)


def text_of(answer: BrowserAnswer) -> str:
    assert answer.page is not None
    return answer.page.document.content.markdown


async def test_after_kill_9_the_next_call_goes_on_elsewhere_with_the_login(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        opened = await here.do(OpenBrowser(url=here.site.url("/account/login?user=smith")))
        owner = await here.owner(opened.session)

        await here.kill(owner)
        page = await here.do(ReadTab(session=opened.session))

        assert "Hello, smith" in text_of(page)
        assert "Visits kept here: 2." in text_of(page)
        assert await here.owner(opened.session) != owner


async def test_kill_9_in_the_middle_of_a_call_costs_its_caller_nothing_but_time(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        opened = await here.do(OpenBrowser(url=here.site.url("/account/login?user=smith")))
        owner = await here.owner(opened.session)
        answers = list[BrowserAnswer]()

        async def navigate() -> None:
            answers.append(await here.do(Navigate(session=opened.session, url=here.site.url("/slow?ms=1500"), tab=1)))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(navigate)
            while not here.site.hits["/slow"]:
                await anyio.sleep(0.01)
            await here.kill(owner)

        assert "Before a single row" in text_of(answers[0])
        assert "Hello, smith" in text_of(await here.do(Navigate(session=opened.session, url=here.site.url("/account"))))
