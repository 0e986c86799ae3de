"""Pages that crash, hang or run away under a browser session, and the bounds of a replica."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator

import anyio
import pytest

from actors.fetchers.playwright import browser, devtools, open_session
from actors.fetchers.playwright.browser import SessionContext
from protocol.browsers.operations import (
    Click,
    CloseTab,
    CreateTab,
    FindElement,
    GetPageContent,
    GetPageInfo,
    Hover,
    ListTabs,
    Navigate,
    Operation,
    Scroll,
    SetValue,
    SwitchTab,
    TakeScreenshot,
    Wait,
    WaitForStable,
)
from protocol.browsers.results import Acted, Navigated, PageInfo, Stable, TabCreated, Tabs
from protocol.faults import Code
from tests.integration.playwright.browsing import Browsing, page
from tests.integration.playwright.driving import LIMIT_S, Driving, code, driving, site_and_browser
from tests.integration.playwright.test_life import process, until
from tests.support.scale import first, one_in

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.full]

DEEPER = "e = e.appendChild(document.createElement('div'))"
CRASH = f"<p>Deep</p><script>let e = document.body; for (let i = 0; i < 20000; i++) {DEEPER}; e.append('End.')</script>"
"""Markup so deep that the engine's layout runs out of stack."""


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Return up sooner on pages that do not answer."""
    monkeypatch.setattr(devtools, "_PATIENCE_S", 2.0)
    monkeypatch.setattr(open_session, "_STATE_S", 0.5)


@pytest.fixture(scope="module")
def web() -> Generator[Browsing]:
    with site_and_browser() as running:
        yield running


@pytest.fixture
def it(web: Browsing) -> Generator[Driving]:
    with driving(web) as driven:
        yield driven


def hang(it: Driving) -> None:
    """Show a page that answers no more."""
    it.show("<title>Hangs</title><button id=b>Go</button>")
    it.js("setTimeout(() => { while (true) {} }, 0)")


@pytest.mark.parametrize(
    "do",
    one_in(
        4,
        [
            GetPageInfo(),
            GetPageContent(),
            FindElement(query="Go"),
            Click(element_id="button_go"),
            Hover(element_id="button_go"),
            SetValue(element_id="button_go", value="x"),
            Scroll(direction="down"),
            TakeScreenshot(),
        ],
    ),
    ids=lambda do: type(do).__name__,
)
def test_a_page_that_hangs_is_told_as_such(it: Driving, do: Operation) -> None:
    hang(it)
    fault = it.fault(do)

    assert fault.code is Code.BROWSER_PAGE_HUNG
    assert [action.tool_to_use for action in fault.actions] == ["navigate"]
    assert "Playwright" not in fault.message


def test_a_page_that_hangs_is_not_stable(it: Driving) -> None:
    hang(it)

    assert not it.do(WaitForStable(timeout=1_000), Stable).stable


@pytest.mark.full
def test_a_page_that_hangs_harms_no_other_tab_and_is_left_by_going_elsewhere(it: Driving) -> None:
    it.show("<title>One</title>")
    it.js("window.kept = 1")
    it.do(CreateTab(url=it.url("/article")), TabCreated)
    hang(it)
    it.fault(GetPageInfo())
    other = it.js("window.kept", tab=1)
    went = it.show("<title>After</title>")

    assert other == 1
    assert (went.success, went.tab_id, went.page.title) == (True, 2, "After")
    hang(it)
    it.do(CloseTab(tab_id=2), Acted)
    assert [one.tab for one in it.do(ListTabs(), Tabs).tabs] == [1]


@pytest.mark.full
def test_a_click_that_hangs_the_page_ends(it: Driving) -> None:
    it.show("<button onclick='while (true) {}'>Go</button>")
    element = it.id_of("Go")
    fault = it.fault(Click(element_id=element))

    assert fault.code in (Code.BROWSER_PAGE_HUNG, Code.EXECUTION_ERROR)


def test_a_page_that_crashes_harms_no_other_tab_and_is_there_again(it: Driving) -> None:
    it.show("<title>One</title>")
    it.js("window.kept = 1")
    it.do(CreateTab(url=it.url("/article")), TabCreated)
    fault = it.fault(Navigate(url=it.url(page(CRASH))))

    assert fault.code is Code.PAGE_CRASHED
    assert it.js("window.kept", tab=1) == 1
    assert it.do(GetPageInfo(), PageInfo).page.url == it.url("/article")


@pytest.mark.full
def test_a_page_that_goes_elsewhere_all_the_time_is_answered_for(it: Driving) -> None:
    there = page("<title>Away</title><button>Go</button><script>setTimeout(() => location.reload(), 150)</script>")
    it.do(Navigate(url=it.url(there)), Navigated)
    todo: tuple[Operation, ...] = (
        GetPageInfo(),
        GetPageContent(),
        TakeScreenshot(),
        Scroll(direction="down"),
        Click(element_id="button_go"),
    )

    assert {it.code(do) for do in todo} <= {None, Code.EXECUTION_ERROR, Code.ELEMENT_NOT_FOUND}


def test_a_replica_has_as_many_tabs_as_it_may_and_says_how_to_make_room(
    it: Driving, monkeypatch: pytest.MonkeyPatch
) -> None:
    it.do(CreateTab(), TabCreated)
    monkeypatch.setattr(browser, "MAX_TABS", it.web.browser.tabs)
    fault = it.fault(CreateTab())

    assert fault.code is Code.INTERNAL_BUSY
    assert fault.actions[0].tool_to_use == "close_tab"
    assert [one.tab for one in it.do(ListTabs(), Tabs).tabs] == [1]


def test_who_has_the_most_tabs_gives_one_back_to_who_has_fewer(it: Driving, monkeypatch: pytest.MonkeyPatch) -> None:
    it.do(Navigate(url=it.url("/article")), Navigated)
    with driving(it.web) as second:
        second.show("<title>Two</title>")
        second.js("window.kept = 1")
        monkeypatch.setattr(browser, "MAX_TABS", it.web.browser.tabs)
        with driving(it.web, "guest") as guest:
            guest.show("<title>Guest</title>")

            assert it.fault(GetPageInfo()).code is Code.INTERNAL_BUSY
            assert second.js("window.kept") == 1
            assert it.web.fetch("/article").status == 200
        assert it.do(GetPageInfo(), PageInfo).page.url == it.url("/article")


@pytest.mark.parametrize("mark", first(1, ["--remote-debugging-pipe", "playwright/driver"]))
def test_when_the_browser_is_killed_the_session_goes_on_where_it_was(it: Driving, mark: str) -> None:
    it.show("<title>One</title>")
    it.do(CreateTab(url=it.url("/article")), TabCreated)
    it.do(CreateTab(url=it.url("/table?rows=2")), TabCreated)
    it.do(SwitchTab(tab_id=2), Acted)
    os.kill(process(it.web, mark), signal.SIGKILL)
    while it.code(GetPageInfo()) is Code.PAGE_CRASHED:
        it.breathe()
    listed = it.do(ListTabs(), Tabs)

    assert (listed.active_tab_id, [one.tab for one in listed.tabs]) == (2, [1, 2, 3])
    assert it.do(GetPageInfo(), PageInfo).page.url == it.url("/article")
    assert it.js("document.title", tab=1) == "One"


def test_what_waits_in_a_tab_ends_when_the_tab_closes_itself(it: Driving) -> None:
    inner = page("<script>setTimeout(() => window.close(), 2500)</script>")
    it.show(f'<button onclick="window.open(`{inner}`)">Open</button>')
    opened = it.click("Open").new_tab_created
    fault = it.fault(Wait(tab_id=opened, selector="p", milliseconds=20_000))

    assert code(fault) == (Code.VALIDATION_INVALID_REQUEST, "tabId")
    assert [one.tab for one in it.do(ListTabs(), Tabs).tabs] == [1]


def test_a_tab_that_is_closed_under_what_is_done_in_it_is_told_as_such(it: Driving) -> None:
    it.show("<title>One</title>")
    faults = it.race(Wait(tab_id=1, milliseconds=20_000), CloseTab(tab_id=1))

    assert [code(fault) for fault in faults] == [(Code.VALIDATION_INVALID_REQUEST, "tabId")]


def test_what_a_page_meddles_with_is_no_inner_error(it: Driving) -> None:
    it.show(
        "<button>Go</button><script>Element.prototype.scrollIntoView = () => { throw 1 };"
        "document.elementFromPoint = () => ({}); Object.defineProperty(Object.prototype, 'state', {set() {}});</script>"
    )

    assert it.code(Click(element_id=it.id_of("Go"))) in (Code.EXECUTION_ERROR, None)


FLOODING = {
    "lines": "setTimeout(() => { for (;;) console.log('x'.repeat(1000)) }, 50)",
    "windows": "setInterval(() => { for (let i = 0; i < 20; i++) open('about:blank') })",
}


@pytest.mark.parametrize("name", FLOODING)
def test_a_session_goes_on_after_a_page_that_floods_the_browser(web: Browsing, name: str) -> None:
    with driving(web) as driven, driving(web) as other:
        other.show("<title>Other</title>")
        driven.do(CreateTab(), TabCreated)
        driven.code(Navigate(url=driven.url(page(f"<p>A page</p><script>{FLOODING[name]}</script>"))))
        until(lambda: driven.code(ListTabs()) is None and web.browser.tabs <= 1)

        assert driven.do(Navigate(url=driven.url("/article")), Navigated).status_code == 200
        assert len(driven.do(ListTabs(), Tabs).tabs) == 1
        assert other.do(GetPageInfo(), PageInfo).page.title == "Other"


def test_storage_that_takes_too_long_to_read_is_left_alone_for_a_while(
    web: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = list[bool]()

    async def never(_context: SessionContext, _pages: object = None, *, whole: bool = True) -> None:
        wanted.append(whole)
        await anyio.sleep(LIMIT_S if whole else 0)

    with driving(web) as driven:
        driven.show("<title>One</title>")
        monkeypatch.setattr(SessionContext, "save", never)
        driven.do(GetPageInfo(), PageInfo)
        driven.do(GetPageInfo(), PageInfo)

    assert wanted[:2] == [True, False]
