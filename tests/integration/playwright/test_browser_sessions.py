"""Browser sessions in several replicas on one bus: each lives in one of them, and any of them finds it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import anyio.from_thread
import pytest
from anyio.abc import TaskGroup
from anyio.from_thread import BlockingPortal

from actors.settings import Settings
from actors.sites import owned_key
from bus import Bus
from bus.memory import Broker
from bus.seal import Seal, new_key
from protocol import subjects
from protocol.browsers.operations import (
    CloseSession,
    CloseTab,
    CreateSession,
    CreateTab,
    ExecuteJavascript,
    GetDownloads,
    GetPageContent,
    ListTabs,
    Navigate,
    Operation,
    SwitchTab,
)
from protocol.browsers.results import Done, Downloads, Evaluated, Navigated, Tabs
from protocol.browsers.sessions import AskBrowser, BrowserInfo, ListBrowsers
from protocol.faults import Code, FaultError
from tests.site import Site, serve_site
from tests.support.browsers import BrowserReplica, browser_lives
from tests.support.logins import login_of

pytestmark = [pytest.mark.browser, pytest.mark.full]

KEY = new_key()
TEST_S = 90.0
NOBODY = "sess_" + "A" * 22


@dataclass
class World:
    """The site, and whoever asks on the bus."""

    site: Site
    broker: Broker
    bus: Bus
    settings: Settings
    tasks: TaskGroup

    async def lives(self, name: str) -> BrowserReplica:
        """Start a replica."""
        return await browser_lives(self.broker, self.tasks, name, self.settings, KEY)

    async def do(self, do: Operation, caller: str = "one", *, at_need: bool = False, order: str = "") -> Done:
        login = login_of(Seal.of(KEY), do, caller)
        asked = AskBrowser(do=do, caller=caller, at_need=at_need, local=True, order=order, login=login)
        return (await self.bus.call(subjects.BROWSER, asked)).done

    async def code(self, do: Operation, caller: str = "one", *, order: str = "") -> Code:
        with pytest.raises(FaultError) as caught:
            await self.do(do, caller, order=order)
        return caught.value.fault.code

    async def opens(self, url: str | None = None, session: str | None = None, profile: str | None = None) -> str:
        return (await self.do(CreateSession(session_id=session, url=url, profile=profile))).session_id

    async def tabs(self, session: str) -> Tabs:
        told = await self.do(ListTabs(session_id=session))
        assert isinstance(told, Tabs)
        return told

    async def words(self, session: str, tab: int | None = None) -> str:
        """Read the page of a tab."""
        done = await self.do(ExecuteJavascript(session_id=session, tab_id=tab, script="document.body.innerText"))
        assert isinstance(done, Evaluated)
        return str(done.result)

    async def sessions(self, caller: str | None = None) -> tuple[BrowserInfo, ...]:
        return (await self.bus.call(subjects.BROWSERS, ListBrowsers(caller=caller))).sessions


@asynccontextmanager
async def world(idle_ms: int = 1_800_000, limit_s: float = TEST_S) -> AsyncGenerator[World]:
    """Run the site and a bus."""
    settings = Settings(allow_private=("127.0.0.0/8",), browser_session_idle_ms=idle_ms, browser_javascript=True)
    with anyio.fail_after(limit_s):
        async with (
            serve_site() as site,
            Broker() as broker,
            Bus(broker.connect("asker"), "asker", "a1").running() as bus,
            anyio.create_task_group() as tasks,
        ):
            yield World(site, broker, bus, settings, tasks)
            tasks.cancel_scope.cancel()


@dataclass(frozen=True)
class Common:
    """A world with one replica, in a thread of its own, for the tests in which none dies."""

    portal: BlockingPortal
    world: World

    def live(self, story: Callable[[World], Awaitable[None]]) -> None:
        """Have something happen, and close its sessions."""

        async def bounded() -> None:
            with anyio.fail_after(TEST_S):
                await story(self.world)
                for left in await self.world.sessions():
                    await self.world.do(CloseSession(session_id=left.session))

        self.portal.call(bounded)


@pytest.fixture(scope="module")
def common() -> Generator[Common]:
    with (
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(world(limit_s=1_000)) as here,
    ):
        portal.call(here.lives, "r1")
        yield Common(portal, here)


def shared(story: Callable[[World], Awaitable[None]]) -> Callable[[Common], None]:
    """Make a test of what happens in the world that tests share, where the replica r1 lives."""

    def test(common: Common) -> None:
        common.live(story)

    return test


@pytest.mark.slow
@shared
async def test_a_session_is_opened_used_and_closed(here: World) -> None:
    session = await here.opens(here.site.url("/article"))
    second = await here.do(CreateTab(session_id=session, url=here.site.url("/table?rows=2")))
    first = await here.words(session, 1)
    same = await here.do(Navigate(session_id=session, url=here.site.url("/text"), tab_id=2))
    listed = await here.tabs(session)
    await here.do(CloseTab(session_id=session, tab_id=1))
    left = await here.tabs(session)
    everything = await here.sessions()
    await here.do(CloseSession(session_id=session))

    assert session.startswith("sess_")
    assert len(session) >= 27
    assert "Before a single row" in first
    assert isinstance(same, Navigated)
    assert (second.tab_id, same.tab_id, same.page.url, same.status_code) == (2, 2, here.site.url("/text"), 200)
    assert [(one.tab, one.url) for one in listed.tabs] == [
        (1, here.site.url("/article")),
        (2, here.site.url("/text")),
    ]
    assert listed.tabs[0].title == "How a loom is warped | Weaving Notes"
    assert [one.tab for one in left.tabs] == [2]
    assert [(one.session, one.replica, one.tabs) for one in everything] == [(session, "r1", 1)]
    assert await here.code(ListTabs(session_id=session)) is Code.SESSION_NOT_FOUND
    assert await here.sessions() == ()


@pytest.mark.slow
@shared
async def test_what_there_is_not_is_not_found(here: World) -> None:
    assert await here.code(ListTabs(session_id=NOBODY)) is Code.SESSION_NOT_FOUND
    assert await here.code(CreateSession(profile="me")) is Code.VALIDATION_INVALID_REQUEST
    assert await here.code(CreateSession(url="file:///etc/passwd")) is Code.SECURITY_URL_BLOCKED
    session = await here.opens()
    to_private = Navigate(session_id=session, url="http://10.0.0.1/")
    assert await here.code(to_private) is Code.SECURITY_ADDRESS_BLOCKED
    assert await here.code(CloseTab(session_id=session, tab_id=9)) is Code.VALIDATION_INVALID_REQUEST


@pytest.mark.slow
@shared
async def test_a_session_is_nobody_elses(here: World) -> None:
    session = await here.opens(here.site.url("/article"))

    assert await here.code(ListTabs(session_id=session), caller="two") is Code.SESSION_NOT_FOUND
    await here.do(CloseSession(session_id=session), caller="two")
    assert [one.session for one in await here.sessions("one")] == [session]
    assert await here.sessions("two") == ()


@pytest.mark.slow
@shared
async def test_a_session_goes_on_where_a_page_keeps_what_cannot_be_written(here: World) -> None:
    session = await here.opens(here.site.url("/article"))
    kept = "localStorage.half = sessionStorage.half = document.cookie = '\\ud800'; localStorage.whole = 'kept'"

    await here.do(ExecuteJavascript(session_id=session, script=f"{kept}; document.title = '\\ud800 Looms'; return 1"))

    assert [one.title for one in (await here.tabs(session)).tabs] == ["\ufffd Looms"]


@pytest.mark.slow
@shared
async def test_a_session_goes_on_where_a_page_says_of_its_storage_what_it_likes(here: World) -> None:
    session = await here.opens(here.site.url("/article"))

    await here.do(ExecuteJavascript(session_id=session, script="Object.prototype.toJSON = () => 'forged'; return 1"))

    assert [one.url for one in (await here.tabs(session)).tabs] == [here.site.url("/article")]


@pytest.mark.slow
@shared
async def test_a_session_is_opened_at_need(here: World) -> None:
    name = "sess_" + "C" * 22
    went = await here.do(Navigate(session_id=name, url=here.site.url("/article")), at_need=True)

    assert (went.session_id, went.tab_id) == (name, 1)
    assert "Before a single row" in await here.words(name)


@pytest.mark.slow
@shared
async def test_who_names_a_session_opens_it_once(here: World) -> None:
    name, before = "sess_" + "B" * 22, here.site.hits["/article"]
    first = await here.opens(here.site.url("/article"), session=name)
    again = await here.opens(here.site.url("/article"), session=name)

    assert (first, again) == (name, name)
    assert [one.tab for one in (await here.tabs(name)).tabs] == [1]
    assert here.site.hits["/article"] == before + 1


@pytest.mark.slow
async def test_any_replica_finds_it_and_another_goes_on_with_the_login_when_its_own_dies() -> None:
    async with world() as here:
        owner = await here.lives("r1")
        session = await here.opens(here.site.url("/account/login?user=smith"))
        await here.lives("r2")
        for _ in range(6):  # whichever replica is asked
            await here.do(Navigate(session_id=session, url=here.site.url("/account"), tab_id=1))
            assert "Hello, smith" in await here.words(session)
        before = await here.sessions()

        await owner.dies()
        tabs = await here.tabs(session)
        words = await here.words(session)
        after = await here.sessions()

        assert (before[0].replica, after[0].replica) == ("r1", "r2")
        assert [(one.tab, one.url, one.title) for one in tabs.tabs] == [(1, here.site.url("/account"), "Your account")]
        assert "Hello, smith" in words
        assert "Visits kept here: 8." in words


@pytest.mark.slow
@shared
async def test_what_only_reads_may_come_again(here: World) -> None:
    session = await here.opens(here.site.url("/article"))

    read = [await here.do(GetPageContent(session_id=session), order="one") for _ in range(2)]
    await here.do(Navigate(session_id=session, url=here.site.url("/text")), order="two")
    await here.do(Navigate(session_id=session, url=here.site.url("/text")), order="two")

    assert read[0] == read[1]


@pytest.mark.slow
@shared
async def test_of_two_who_act_in_their_tabs_at_once_both_do(here: World) -> None:
    session = await here.opens(here.site.url("/article"))
    await here.do(CreateTab(session_id=session, url=here.site.url("/text")))
    done = list[Done]()

    async def act(tab: int, number: int) -> None:
        script = f"new Promise(done => setTimeout(() => done({number}), 20))"
        act = ExecuteJavascript(session_id=session, tab_id=tab, script=script)
        done.append(await here.do(act, order=f"order-{number}"))

    async with anyio.create_task_group() as tasks:
        for number in range(8):
            tasks.start_soon(act, number % 2 + 1, number)

    assert sorted(one.result for one in done if isinstance(one, Evaluated)) == list(range(8))


@pytest.mark.slow
@shared
async def test_of_two_tabs_one_waits_for_nothing_in_the_other(here: World) -> None:
    session = await here.opens(here.site.url("/article"))
    await here.do(CreateTab(session_id=session, url=here.site.url("/article")))
    done = list[int]()

    async def slow() -> None:
        await here.do(Navigate(session_id=session, tab_id=1, url=here.site.url("/slow?ms=4000")))
        done.append(1)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(slow)
        while not here.site.hits["/slow"]:
            await anyio.sleep(0.01)
        await here.do(Navigate(session_id=session, tab_id=2, url=here.site.url("/text")))
        done.append(2)

    assert done == [2, 1]


@pytest.mark.full
@pytest.mark.slow
async def test_of_several_who_would_go_on_with_it_one_does() -> None:
    async with world() as here:
        owner = await here.lives("r1")
        session = await here.opens(here.site.url("/account/login"))
        await here.lives("r2")
        await here.lives("r3")
        await owner.dies()
        seen = list[int | None]()

        async def count() -> None:
            seen.append((await here.do(CreateTab(session_id=session, url=here.site.url("/account")))).tab_id)

        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(count)

        assert sorted(number or 0 for number in seen) == [2, 3, 4, 5]
        (one,) = await here.sessions()
        assert (one.tabs, one.replica in ("r2", "r3")) == (5, True)


@pytest.mark.slow
@shared
async def test_calls_on_one_tab_are_done_one_after_another(here: World) -> None:
    session = await here.opens(here.site.url("/account/login"))

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(here.do, Navigate(session_id=session, url=here.site.url("/account"), tab_id=1))

    (tab,) = (await here.tabs(session)).tabs
    assert tab.url == here.site.url("/account")
    assert here.site.last("/account").headers["cookie"].endswith(".6")


@pytest.mark.slow
async def test_what_a_session_does_with_a_login_is_kept_of_the_login() -> None:
    async with world() as here:
        await here.lives("r1")
        await here.opens(here.site.url("/account/login?user=smith"), profile="me")
        kept = list(here.broker.tables["sessions"].entries)

        second = await here.opens(here.site.url("/account"), profile="me")

        assert kept == [owned_key("one", "me", "127.0.0.1")]
        assert "Hello, smith" in await here.words(second)


@pytest.mark.full
@pytest.mark.slow
async def test_when_the_browser_dies_the_session_goes_on_in_a_fresh_one() -> None:
    async with world() as here:
        replica = await here.lives("r1")
        session = await here.opens(here.site.url("/account/login?user=smith"))
        process = replica.actor.browser.process
        assert process is not None
        assert process.raw is not None
        await process.raw.close()

        await here.do(Navigate(session_id=session, url=here.site.url("/account"), tab_id=1))

        assert "Hello, smith" in await here.words(session)


@pytest.mark.slow
@shared
async def test_nothing_of_a_session_lies_in_the_open(here: World) -> None:
    await here.opens(here.site.url("/account/login?user=needle"))

    everything = here.broker.tables["browser_sessions"].entries.values()
    entries = [entry for entry in everything if entry.value is not None]
    assert len(entries) == 1
    assert not any(b"needle" in (entry.value or b"") for entry in entries)


@pytest.mark.full
@pytest.mark.slow
async def test_an_idle_session_ends() -> None:
    async with world(idle_ms=1_000) as here:
        await here.lives("r1")
        session = await here.opens()

        while await here.sessions():
            await anyio.sleep(0.05)

        assert await here.code(ListTabs(session_id=session)) is Code.SESSION_NOT_FOUND


@pytest.mark.slow
@pytest.mark.full
@shared
async def test_a_session_has_twenty_tabs_at_most(here: World) -> None:
    session = await here.opens()
    while len((await here.tabs(session)).tabs) < 20:
        await here.do(CreateTab(session_id=session))

    assert await here.code(CreateTab(session_id=session)) is Code.INTERNAL_BUSY
    await here.do(CloseTab(session_id=session, tab_id=3))
    assert (await here.do(CreateTab(session_id=session))).tab_id == 21


@pytest.mark.slow
@shared
async def test_what_was_begun_is_not_begun_again(here: World) -> None:
    async for _ in orders(here):
        pass


# -- what another replica goes on with: each story is interrupted where it yields, by the death of the first one -------


async def tabs_and_files(here: World) -> AsyncGenerator[None]:
    session = await here.opens(here.site.url("/article"))
    await here.do(CreateTab(session_id=session, url=here.site.url("/table?rows=2")))
    await here.do(CreateTab(session_id=session, url=here.site.url("/text")))
    await here.do(Navigate(session_id=session, url=here.site.url("/csv")))
    files = await here.do(GetDownloads(session_id=session))
    await here.do(SwitchTab(session_id=session, tab_id=2))
    yield

    assert await here.do(GetDownloads(session_id=session)) == files
    assert isinstance(files, Downloads)
    assert [file.file_name for file in files.downloads] == ["csv.csv"]
    assert (await here.tabs(session)).active_tab_id == 2
    assert await here.words(session) == await here.words(session, 2)
    assert "A plain note" in await here.words(session, 3)


async def databases(here: World) -> AsyncGenerator[None]:
    session = await here.opens(here.site.url("/account/database"))
    first = await here.words(session)
    yield

    assert (first.strip(), (await here.words(session)).strip()) == ("Turn 1.", "Turn 2.")


async def removals(here: World) -> AsyncGenerator[None]:
    session = await here.opens(here.site.url("/account/login"))
    yield
    await here.do(Navigate(session_id=session, url=here.site.url("/account/leave")))
    left = await here.words(session)
    await here.do(Navigate(session_id=session, url=here.site.url("/account/left"), tab_id=1))

    assert "Before 1, now 0." in left
    assert "now 0." in await here.words(session)


async def orders(here: World) -> AsyncGenerator[None]:
    session = await here.opens(here.site.url("/article"))
    count = ExecuteJavascript(session_id=session, script="localStorage.count = 1 + +(localStorage.count || 0)")
    await here.do(count, order="first")
    await here.do(count, order="second")
    yield
    codes = [await here.code(count, order=order) for order in ("first", "second", "first")]
    third = await here.do(count, order="third")

    assert codes == [Code.EXECUTION_ERROR] * 3
    assert isinstance(third, Evaluated)
    assert third.result == 3


@pytest.mark.full
@pytest.mark.slow
async def test_another_replica_goes_on_with_tabs_files_databases_and_orders() -> None:
    async with world() as here:
        owner = await here.lives("r1")
        stories = [story(here) for story in (tabs_and_files, databases, removals, orders)]
        for story in stories:
            await anext(story)
        await owner.dies()
        await here.lives("r2")

        for story in stories:
            assert [part async for part in story] == []
