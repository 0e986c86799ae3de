"""Getting about in a browser session: to an address, back, up and down, and from tab to tab."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from actors.fetchers.playwright.browser import MAX_TABS_OF_SESSION
from actors.fetchers.playwright.operations import navigation
from protocol.actions import RETRY
from protocol.browsers.operations import (
    CloseTab,
    CreateTab,
    ExecuteJavascript,
    GetDownloads,
    GetPageContent,
    GoBack,
    HandleDialog,
    ListTabs,
    Navigate,
    Scroll,
    SwitchTab,
    Wait,
)
from protocol.browsers.results import Acted, Downloads, Evaluated, Navigated, PageContent, TabCreated, Tabs
from protocol.faults import Code
from tests.integration.playwright.browsing import Browsing, page
from tests.integration.playwright.driving import Driving, code, driving, site_and_browser
from tests.support.scale import first

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

RESTLESS = "<title>Restless</title><p id=n>0</p><script>setInterval(() => { n.textContent++ }, 20)</script>"
OPENER = (
    "<title>Opener</title><a id=a target=_blank href=/article>Blank</a> "
    "<a target=_blank rel=opener href=/article>With opener</a> "
    "<button onclick=\"window.open('/article')\">Window</button> "
    "<form target=_blank action=/article><button>Send</button></form>"
)


@pytest.fixture(scope="module")
def web() -> Generator[Browsing]:
    with site_and_browser() as running:
        yield running


@pytest.fixture
def it(web: Browsing) -> Generator[Driving]:
    with driving(web) as driven:
        yield driven


@pytest.mark.parametrize("status", first(1, [200, 404, 503]))
def test_a_page_is_gone_to_whatever_its_status(it: Driving, status: int) -> None:
    went = it.show("<title>Loom</title><h1>Warp</h1>", status=status)

    assert (went.success, went.partial, went.status_code, went.page.title) == (True, False, status, "Loom")
    assert went.page.url.startswith(it.url("/asked"))
    assert it.js("document.body.innerText") == "Warp"


def test_a_page_that_never_rests_is_partial_and_no_error(it: Driving) -> None:
    went = it.show(RESTLESS)

    assert (went.success, went.partial, went.page.title) == (True, True, "Restless")


def test_a_document_that_does_not_come_to_its_end_is_partial(it: Driving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(navigation, "DOM_S", 1.0)
    went = it.show("<title>Begun</title><p>First words</p><script src='/slow?ms=20000'></script><p>Last words</p>")

    assert (went.success, went.partial, went.status_code, went.page.title) == (True, True, 200, "Begun")
    assert it.js("document.body.innerText") == "First words"


@pytest.mark.parametrize(
    ("path", "expected"),
    first(1, [("/slow?ms=20000", Code.NETWORK_TIMEOUT), ("/hangup", Code.NETWORK_CONNECTION_FAILED)]),
)
def test_an_address_that_cannot_be_had_says_why(
    it: Driving, monkeypatch: pytest.MonkeyPatch, path: str, expected: Code
) -> None:
    it.show("<title>Before</title>")
    monkeypatch.setattr(navigation, "DOM_S", 1.0)
    fault = it.fault(Navigate(url=it.url(path)))

    assert fault.code is expected
    assert "Playwright" not in fault.message
    assert "goto" not in fault.message
    assert fault.actions[0].action == RETRY.action  # and no option of `browse`
    assert it.show("<title>After</title>").page.title == "After"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("file:///etc/passwd", Code.SECURITY_URL_BLOCKED),
        ("chrome://version", Code.SECURITY_URL_BLOCKED),
        ("javascript:alert(1)", Code.SECURITY_URL_BLOCKED),
        ("data:text/html,hello", Code.SECURITY_URL_BLOCKED),
        ("http://10.0.0.1/", Code.SECURITY_ADDRESS_BLOCKED),
        ("http://169.254.169.254/latest", Code.SECURITY_ADDRESS_BLOCKED),
    ],
)
def test_what_is_forbidden_is_forbidden_to_local_callers_too(it: Driving, url: str, expected: Code) -> None:
    assert it.fault(Navigate(url=url)).code is expected
    assert it.fault(CreateTab(url=url)).code is expected


def test_an_address_of_a_file_is_told_as_such_and_the_file_kept(it: Driving) -> None:
    it.show("<title>Before</title>")
    went = it.do(Navigate(url=it.url("/csv")), Navigated)
    (file,) = it.do(GetDownloads(), Downloads).downloads

    assert "get_downloads" in went.changed
    assert went.page.title == "Before"
    assert (file.kind, file.file_name, file.media_type) == ("download", "csv.csv", "text/csv")
    assert it.web.shelf.kept[file.name] == b"name,length\nwarp,12\nweft,9\n"


def test_a_dialog_of_a_page_that_is_loaded_is_reported(it: Driving) -> None:
    went = it.show("<title>Greets</title><script>alert('Good day')</script><h1>Later</h1>")
    after = it.do(HandleDialog(action="accept"), Acted)

    assert went.dialog is not None
    assert (went.success, went.partial, went.dialog.message, went.dialog.response) == (True, True, "Good day", "")
    assert (after.dialog, it.js("document.body.innerText")) == (None, "Later")


def test_going_back_leads_to_the_page_before_and_no_further(it: Driving) -> None:
    it.show("<title>One</title>")
    it.show("<title>Two</title>")
    back = it.do(GoBack(), Navigated)
    fault = it.fault(GoBack())

    assert (back.success, back.page.title, back.status_code) == (True, "One", 200)
    assert fault.code is Code.EXECUTION_ERROR
    assert "nothing before" in fault.message


def test_what_a_page_pushed_is_gone_back_from(it: Driving) -> None:
    it.show("<title>App</title><script>history.pushState({}, '', '#second')</script>")

    assert not it.do(GoBack(), Navigated).page.url.endswith("#second")


def test_scrolling_goes_by_most_of_a_window_and_tells_the_end(it: Driving) -> None:
    it.show("<body style='margin:0'><div style='height:1400px'>Tall</div></body>")
    down = it.do(Scroll(direction="down"), Acted)
    bottom = it.js("scrollY")
    end = it.do(Scroll(direction="down"), Acted)
    up = it.do(Scroll(direction="up"), Acted)

    assert bottom == 600
    assert "the end is reached" in down.changed
    assert "Nothing scrolls further down" in end.changed
    assert "Scrolled up by 600 pixels" in up.changed


def test_what_a_page_draws_at_its_end_is_told_as_left(it: Driving) -> None:
    it.show(
        "<body style='margin:0'><div id=d style='height:900px'>Tall</div><script>"
        "onscroll = () => setTimeout(() => { d.style.height = '3000px'; d.append('More') }, 50)</script></body>"
    )

    assert "windows are left below" in it.do(Scroll(direction="down"), Acted).changed


def test_scrolling_moves_the_largest_thing_that_scrolls(it: Driving) -> None:
    it.show(
        "<body style='margin:0;height:100vh;overflow:hidden'><div id=list style='height:700px;overflow:auto'>"
        "<div style='height:5000px'>Rows</div></div></body>"
    )
    it.do(Scroll(direction="down"), Acted)

    assert it.js("list.scrollTop") == 595


def test_without_a_tab_id_it_is_the_active_tab_and_with_one_it_is_that(it: Driving) -> None:
    it.show("<title>One</title><p>first</p>")
    two = it.do(CreateTab(url=it.url(page("<title>Two</title><p>second</p>"))), TabCreated)
    active = it.js("document.title")
    beside = it.js("document.title", tab=1)
    it.do(SwitchTab(tab_id=1), Acted)
    switched = it.js("document.title")
    third = it.do(CreateTab(), TabCreated)
    listed = it.do(ListTabs(), Tabs)

    assert (two.tab_id, two.partial, active, beside, switched) == (2, False, "Two", "One", "One")
    assert (third.tab_id, third.url, listed.active_tab_id) == (3, "about:blank", 3)
    assert [(one.tab, one.title) for one in listed.tabs] == [(1, "One"), (2, "Two"), (3, "")]


def test_closing_the_active_tab_activates_the_one_before(it: Driving) -> None:
    for _ in range(3):
        it.do(CreateTab(), TabCreated)
    it.do(SwitchTab(tab_id=2), Acted)
    it.do(CloseTab(tab_id=2), Acted)
    first = it.do(ListTabs(), Tabs).active_tab_id
    it.do(CloseTab(tab_id=1), Acted)
    second = it.do(ListTabs(), Tabs).active_tab_id
    last = it.do(CloseTab(tab_id=3), Acted)

    assert (first, second, last.changed) == (1, 3, "No tab is left.")
    assert it.show("<title>Again</title>").tab_id == 4


@pytest.mark.parametrize("do", [SwitchTab(tab_id=9), CloseTab(tab_id=9), GetPageContent(tab_id=9), GoBack(tab_id=9)])
def test_a_tab_that_there_is_not_is_told_by_the_name_of_the_argument(it: Driving, do: SwitchTab) -> None:
    it.show("<title>One</title>")
    fault = it.fault(do)

    assert code(fault) == (Code.VALIDATION_INVALID_REQUEST, "tabId")
    assert "list_tabs" in fault.message


@pytest.mark.parametrize("way", first(1, ["Blank", "With opener", "Window", "Send"]))
def test_a_window_that_a_page_opens_is_a_tab_of_the_session(it: Driving, way: str) -> None:
    it.show(OPENER)
    acted = it.click(way)
    words = it.do(GetPageContent(tab_id=2), PageContent)
    listed = it.do(ListTabs(), Tabs)

    assert (acted.new_tab_created, listed.active_tab_id) == (2, 1)
    assert "switch_tab" in acted.changed
    assert any("Before a single row" in section.text for section in words.sections)
    assert [one.tab for one in listed.tabs] == [1, 2]


def test_a_window_that_closes_itself_is_no_tab_any_more(it: Driving) -> None:
    it.show("<script>let w</script><button onclick=\"w = window.open('/article')\">In</button>")
    opened = it.click("In")
    it.js("w.close()")
    it.do(Wait(milliseconds=300), Acted)

    assert opened.new_tab_created == 2
    assert [one.tab for one in it.do(ListTabs(), Tabs).tabs] == [1]


@pytest.mark.full
def test_a_session_has_as_many_tabs_as_it_may_and_says_how_to_make_room(it: Driving) -> None:
    for _ in range(MAX_TABS_OF_SESSION):
        it.do(CreateTab(), TabCreated)
    fault = it.fault(CreateTab())
    it.show(OPENER, ms=0)
    popup = it.click("Window")

    assert fault.code is Code.INTERNAL_BUSY
    assert [action.tool_to_use for action in fault.actions] == ["close_tab", "close_session"]
    assert popup.new_tab_created is None
    assert len(it.do(ListTabs(), Tabs).tabs) == MAX_TABS_OF_SESSION
    it.do(CloseTab(tab_id=1), Acted)
    assert it.do(CreateTab(), TabCreated).tab_id == MAX_TABS_OF_SESSION + 1


def test_what_is_done_in_one_tab_does_not_wait_for_another(it: Driving) -> None:
    """The first tab waits for what only the second can bring about."""
    it.show("<script>addEventListener('storage', () => document.body.append(document.createElement('hr')))</script>")
    it.do(CreateTab(url=it.url("/article")), TabCreated)
    waited, _ = it.together(
        Wait(tab_id=1, selector="hr", condition="selector"),
        ExecuteJavascript(
            tab_id=2,
            script="setInterval(() => localStorage.setItem('at', performance.now()), 50); return 1",
        ),
    )

    assert isinstance(waited, Acted)
    assert isinstance(it.do(ExecuteJavascript(tab_id=2, script="1"), Evaluated), Evaluated)
