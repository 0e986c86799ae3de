"""Browser sessions in several replicas on one bus: each lives in one of them, and any of them finds it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import pytest
from anyio.abc import TaskGroup, TaskStatus

from actors.actor import grant_of, handlers
from actors.fetchers.playwright.actor import Playwright
from actors.settings import Settings
from bus import Bus
from bus.memory import Broker, MemoryTransport
from bus.seal import Seal, new_key
from protocol import subjects
from protocol.browsers import (
    AskBrowser,
    BrowserAnswer,
    CloseBrowser,
    CloseTab,
    ListBrowsers,
    ListTabs,
    Navigate,
    OpenBrowser,
    Operation,
    ReadTab,
)
from protocol.faults import Code, FaultError
from tests.site import Site, serve_site

pytestmark = pytest.mark.browser

KEY = new_key()
NOBODY = "sess_" + "A" * 22


@dataclass
class Replica:
    """One replica, which lives in a task until it dies."""

    name: str
    transport: MemoryTransport
    bus: Bus
    actor: Playwright
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    gone: anyio.Event = field(default_factory=anyio.Event)

    async def live(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serve until it dies."""
        try:
            with self.scope:
                async with self.bus.running():
                    self.bus.seal = Seal.of(KEY)
                    async with self.actor.open():
                        for handler in handlers(Playwright):
                            subject = handler.subject.answered_by(self.name)
                            await self.bus.serve(subject, getattr(self.actor, handler.method), at_once=handler.at_once)
                        task_status.started()
                        await anyio.sleep_forever()
        finally:
            self.gone.set()

    async def dies(self) -> None:
        """Fall silent in the middle of everything, as a process does that is killed."""
        await self.transport.disconnect()
        self.scope.cancel()
        await self.gone.wait()


@dataclass
class World:
    """The site, and whoever asks on the bus."""

    site: Site
    broker: Broker
    bus: Bus
    settings: Settings
    tasks: TaskGroup

    async def lives(self, name: str) -> Replica:
        """Start a replica."""
        transport = self.broker.connect("fetchers.playwright", grant_of(Playwright))
        bus = Bus(transport, "fetchers.playwright", name)
        replica = Replica(name, transport, bus, Playwright(bus=bus, settings=self.settings))
        await self.tasks.start(replica.live)
        return replica

    async def do(self, do: Operation) -> BrowserAnswer:
        return await self.bus.call(subjects.BROWSER, AskBrowser(do=do))

    async def code(self, do: Operation) -> Code:
        with pytest.raises(FaultError) as caught:
            await self.do(do)
        return caught.value.fault.code


@asynccontextmanager
async def world(idle_ms: int = 1_800_000) -> AsyncGenerator[World]:
    """Run the site and a bus."""
    settings = Settings(allow_private=("127.0.0.0/8",), browser_session_idle_ms=idle_ms)
    with anyio.fail_after(55):
        async with (
            serve_site() as site,
            Broker() as broker,
            Bus(broker.connect("asker"), "asker", "a1").running() as bus,
            anyio.create_task_group() as tasks,
        ):
            yield World(site, broker, bus, settings, tasks)
            tasks.cancel_scope.cancel()


def text_of(answer: BrowserAnswer) -> str:
    assert answer.page is not None
    return answer.page.document.content.markdown


async def test_a_session_is_opened_used_and_closed() -> None:
    async with world() as here:
        await here.lives("r1")
        opened = await here.do(OpenBrowser(url=here.site.url("/article")))
        session = opened.session
        second = await here.do(Navigate(session=session, url=here.site.url("/table?rows=2")))
        first = await here.do(ReadTab(session=session, tab=1))
        same = await here.do(Navigate(session=session, url=here.site.url("/text"), tab=2))
        listed = await here.do(ListTabs(session=session))
        left = await here.do(CloseTab(session=session, tab=1))
        everything = await here.do(ListBrowsers())
        await here.do(CloseBrowser(session=session))

        assert session.startswith("sess_")
        assert len(session) >= 27
        assert text_of(first).startswith("Before a single row")
        assert (opened.tab, second.tab, same.tab) == (1, 2, 2)
        assert [(one.tab, one.url) for one in listed.tabs] == [
            (1, here.site.url("/article")),
            (2, here.site.url("/text")),
        ]
        assert listed.tabs[0].title == "How a loom is warped"
        assert [one.tab for one in left.tabs] == [2]
        assert [(one.session, one.replica, one.tabs) for one in everything.sessions] == [(session, "r1", 1)]
        assert await here.code(ListTabs(session=session)) is Code.SESSION_NOT_FOUND
        assert (await here.do(ListBrowsers())).sessions == ()


async def test_what_there_is_not_is_not_found() -> None:
    async with world() as here:
        await here.lives("r1")

        assert await here.code(ReadTab(session=NOBODY)) is Code.SESSION_NOT_FOUND
        assert await here.code(OpenBrowser(profile="me")) is Code.VALIDATION_INVALID_REQUEST
        assert await here.code(OpenBrowser(url="file:///etc/passwd")) is Code.SECURITY_URL_BLOCKED
        session = (await here.do(OpenBrowser())).session
        assert await here.code(ReadTab(session=session)) is Code.VALIDATION_INVALID_REQUEST
        assert await here.code(Navigate(session=session, url="http://10.0.0.1/")) is Code.SECURITY_ADDRESS_BLOCKED
        assert (await here.do(ListTabs(session=session))).tabs == ()
        assert await here.code(CloseTab(session=session, tab=9)) is Code.VALIDATION_INVALID_REQUEST


async def test_who_names_a_session_opens_it_once() -> None:
    async with world() as here:
        await here.lives("r1")
        name = "sess_" + "B" * 22
        first = await here.do(OpenBrowser(session=name, url=here.site.url("/article")))
        again = await here.do(OpenBrowser(session=name, url=here.site.url("/article")))

        assert (first.session, again.session, again.tabs) == (name, name, first.tabs)


async def test_any_replica_finds_it_and_another_goes_on_with_the_login_when_its_own_dies() -> None:
    async with world() as here:
        owner = await here.lives("r1")
        opened = await here.do(OpenBrowser(url=here.site.url("/account/login?user=smith")))
        session = opened.session
        await here.lives("r2")
        for _ in range(6):  # whichever replica is asked
            page = await here.do(Navigate(session=session, url=here.site.url("/account"), tab=1))
            assert "Hello, smith" in text_of(page)
        before = (await here.do(ListBrowsers())).sessions

        await owner.dies()
        tabs = await here.do(ListTabs(session=session))
        page = await here.do(ReadTab(session=session))
        after = (await here.do(ListBrowsers())).sessions

        assert (before[0].replica, after[0].replica) == ("r1", "r2")
        assert [(one.tab, one.url, one.title) for one in tabs.tabs] == [(1, here.site.url("/account"), "Your account")]
        assert "Hello, smith" in text_of(page)
        assert "Visits kept here: 8." in text_of(page)


async def test_of_several_who_would_go_on_with_it_one_does() -> None:
    async with world() as here:
        owner = await here.lives("r1")
        session = (await here.do(OpenBrowser(url=here.site.url("/account/login")))).session
        await here.lives("r2")
        await here.lives("r3")
        await owner.dies()
        seen = list[int]()

        async def count() -> None:
            answer = await here.do(Navigate(session=session, url=here.site.url("/account")))
            assert answer.tab is not None
            seen.append(answer.tab)

        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(count)

        assert sorted(seen) == [2, 3, 4, 5]
        (one,) = (await here.do(ListBrowsers())).sessions
        assert (one.tabs, one.replica in ("r2", "r3")) == (5, True)


async def test_calls_on_one_session_are_done_one_after_another() -> None:
    async with world() as here:
        await here.lives("r1")
        session = (await here.do(OpenBrowser(url=here.site.url("/account/login")))).session

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(here.do, Navigate(session=session, url=here.site.url("/account"), tab=1))

        (tab,) = (await here.do(ListTabs(session=session))).tabs
        assert tab.url == here.site.url("/account")
        assert here.site.last("/account").headers["cookie"].endswith(".6")


async def test_what_a_session_does_with_a_login_is_kept_of_the_login() -> None:
    async with world() as here:
        replica = await here.lives("r1")
        await here.do(OpenBrowser(url=here.site.url("/account/login?user=smith"), profile="me"))
        table = await replica.bus.table(subjects.SESSIONS)
        (key,) = await table.names()
        found = await table.get(key)
        assert found is not None
        assert found.value is not None

        second = await here.do(OpenBrowser(url=here.site.url("/account"), profile="me"))

        assert [one.name for one in found.value.state.cookies] == ["session_id"]
        assert "Hello, smith" in text_of(second)


async def test_its_databases_come_along() -> None:
    async with world() as here:
        owner = await here.lives("r1")
        opened = await here.do(OpenBrowser(url=here.site.url("/account/database")))
        await owner.dies()
        await here.lives("r2")

        again = await here.do(ReadTab(session=opened.session))

        assert (text_of(opened).strip(), text_of(again).strip()) == ("Turn 1.", "Turn 2.")


async def test_what_a_page_has_removed_stays_removed() -> None:
    async with world() as here:
        owner = await here.lives("r1")
        session = (await here.do(OpenBrowser(url=here.site.url("/account/login")))).session
        await owner.dies()
        await here.lives("r2")
        left = await here.do(Navigate(session=session, url=here.site.url("/account/leave")))
        again = await here.do(Navigate(session=session, url=here.site.url("/account/left"), tab=1))

        assert "Before 1, now 0." in text_of(left)
        assert "now 0." in text_of(again)


async def test_when_the_browser_dies_the_session_goes_on_in_a_fresh_one() -> None:
    async with world() as here:
        replica = await here.lives("r1")
        session = (await here.do(OpenBrowser(url=here.site.url("/account/login?user=smith")))).session
        engine = replica.actor.browser.engine
        assert engine is not None
        assert engine.raw is not None
        await engine.raw.close()

        page = await here.do(Navigate(session=session, url=here.site.url("/account"), tab=1))

        assert "Hello, smith" in text_of(page)


async def test_nothing_of_a_session_lies_in_the_open() -> None:
    async with world() as here:
        await here.lives("r1")
        await here.do(OpenBrowser(url=here.site.url("/account/login?user=needle")))

        entries = here.broker.tables["browser_sessions"].entries.values()
        assert len(entries) == 1
        assert not any(b"needle" in (entry.value or b"") for entry in entries)


async def test_an_idle_session_ends() -> None:
    async with world(idle_ms=1_000) as here:
        await here.lives("r1")
        session = (await here.do(OpenBrowser())).session

        while (await here.do(ListBrowsers())).sessions:
            await anyio.sleep(0.05)

        assert await here.code(ListTabs(session=session)) is Code.SESSION_NOT_FOUND


async def test_a_session_has_twenty_tabs_at_most() -> None:
    async with world() as here:
        await here.lives("r1")
        session = (await here.do(OpenBrowser())).session
        for _ in range(20):
            await here.do(Navigate(session=session, url=here.site.url("/text")))

        assert await here.code(Navigate(session=session, url=here.site.url("/text"))) is Code.INTERNAL_BUSY
        await here.do(CloseTab(session=session, tab=3))
        assert (await here.do(Navigate(session=session, url=here.site.url("/text")))).tab == 21
