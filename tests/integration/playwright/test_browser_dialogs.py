"""Dialogs in a browser session: they wait for an answer, and nothing hangs meanwhile."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from actors.fetchers.playwright import open_tab
from protocol.browsers.operations import (
    Click,
    CloseTab,
    CreateTab,
    ExecuteJavascript,
    FindElement,
    GetConsoleLogs,
    GetDialogInfo,
    GetNetworkLogs,
    GetPageContent,
    GetPageInfo,
    GoBack,
    HandleDialog,
    Hover,
    ListTabs,
    Navigate,
    Operation,
    PressKey,
    Scroll,
    SelectOption,
    SetValue,
    SwitchTab,
    TakeScreenshot,
    TypeText,
    Wait,
    WaitForStable,
)
from protocol.browsers.results import Acted, ConsoleLogs, Dialogs, Navigated, NetworkLogs, TabCreated, Tabs
from protocol.faults import Code
from tests.integration.playwright.browsing import Browsing, page
from tests.integration.playwright.driving import Driving, code, driving, site_and_browser
from tests.support.scale import first, one_in

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

ASKING = """<title>Asks</title>
<button onclick="said.textContent = 'alerted ' + alert('Mind the loom')">Alert</button>
<button onclick="said.textContent = 'confirmed ' + confirm('Cut the cloth?')">Confirm</button>
<button onclick="said.textContent = 'prompted ' + prompt('Your name?', 'Ada')">Prompt</button>
<button onclick="alert('One'); said.textContent = 'again ' + confirm('Two')">Twice</button>
<a href=/article>Leave</a><p id=said></p>"""
GUARDED = f"{ASKING}<script>onbeforeunload = (event) => event.preventDefault()</script>"


@pytest.fixture(scope="module")
def web() -> Generator[Browsing]:
    with site_and_browser() as running:
        yield running


@pytest.fixture
def it(web: Browsing) -> Generator[Driving]:
    with driving(web) as driven:
        yield driven


def info(it: Driving) -> Dialogs:
    return it.do(GetDialogInfo(), Dialogs)


@pytest.mark.parametrize(
    ("button", "kind", "message", "answer", "expected"),
    first(
        2,
        [
            ("Alert", "alert", "Mind the loom", HandleDialog(action="accept"), "alerted undefined"),
            ("Confirm", "confirm", "Cut the cloth?", HandleDialog(action="accept"), "confirmed true"),
            ("Confirm", "confirm", "Cut the cloth?", HandleDialog(action="dismiss"), "confirmed false"),
            ("Prompt", "prompt", "Your name?", HandleDialog(action="accept", text="Grace"), "prompted Grace"),
            ("Prompt", "prompt", "Your name?", HandleDialog(action="accept"), "prompted Ada"),
            ("Prompt", "prompt", "Your name?", HandleDialog(action="dismiss"), "prompted null"),
        ],
    ),
)
def test_a_dialog_waits_for_the_answer_that_it_gets(  # noqa: PLR0913, PLR0917 - what is asked, and what comes of it
    it: Driving, button: str, kind: str, message: str, answer: HandleDialog, expected: str
) -> None:
    it.show(ASKING)
    clicked = it.click(button)
    waiting = info(it).pending_dialog
    answered = it.do(answer, Acted)
    past = info(it)

    assert clicked.dialog is not None
    assert (clicked.success, clicked.dialog.type, clicked.dialog.message) == (True, kind, message)
    assert "handle_dialog" in clicked.changed
    assert waiting == clicked.dialog
    assert (answered.success, answered.dialog, past.pending_dialog) == (True, None, None)
    assert [one.response for one in past.dialog_history] == [f"{answer.action}ed"]
    assert it.js("said.textContent") == expected


@pytest.mark.parametrize(
    "do",
    one_in(
        5,
        [
            Navigate(url="http://127.0.0.1:8000/"),
            GoBack(),
            Scroll(direction="down"),
            Wait(milliseconds=10_000),
            WaitForStable(),
            GetPageInfo(),
            GetPageContent(),
            FindElement(query="x"),
            TakeScreenshot(),
            ExecuteJavascript(script="1"),
            Click(element_id="button_alert"),
            TypeText(element_id="x", text="x"),
            Hover(element_id="button_alert"),
            SelectOption(element_id="x", value="x"),
            SetValue(element_id="x", value="x"),
            PressKey(key="Enter"),
        ],
    ),
    ids=lambda do: type(do).__name__,
)
def test_meanwhile_everything_else_answers_at_once_with_how_to_go_on(it: Driving, do: Operation) -> None:
    it.show(ASKING)
    it.click("Confirm")
    fault = it.fault(do)

    assert fault.code is Code.EXECUTION_ERROR
    assert [action.tool_to_use for action in fault.actions] == ["handle_dialog", "get_dialog_info"]
    assert "Cut the cloth" not in fault.message


def test_meanwhile_the_session_and_its_other_tabs_go_on(it: Driving) -> None:
    it.show(ASKING)
    it.click("Confirm")
    other = it.do(CreateTab(url=it.url("/article")), TabCreated)
    it.do(SwitchTab(tab_id=1), Acted)

    assert other.tab_id == 2
    assert it.js("document.querySelector('h1').textContent", tab=2) == "How a loom is warped"
    assert it.do(GetConsoleLogs(), ConsoleLogs).logs == ()
    assert it.do(GetNetworkLogs(), NetworkLogs).total_count >= 1
    assert [one.tab for one in it.do(ListTabs(), Tabs).tabs] == [1, 2]
    it.do(CloseTab(tab_id=1), Acted)
    assert it.do(ListTabs(), Tabs).active_tab_id == 2


def test_a_dialog_that_follows_another_is_told_by_the_answer(it: Driving) -> None:
    it.show(ASKING)
    it.click("Twice")
    first = it.do(HandleDialog(action="accept"), Acted)
    it.do(HandleDialog(action="dismiss"), Acted)

    assert first.dialog is not None
    assert first.dialog.message == "Two"
    assert it.js("said.textContent") == "again false"
    assert [one.message for one in info(it).dialog_history] == ["One", "Two"]


def test_a_dialog_that_opens_by_itself_breaks_off_what_waits(it: Driving) -> None:
    it.show(f"{ASKING}<script>setTimeout(() => alert('Time'), 2000)</script>")
    fault = it.fault(Wait(milliseconds=30_000))

    assert fault.code is Code.EXECUTION_ERROR
    assert fault.actions[0].tool_to_use == "handle_dialog"


def test_a_dialog_that_nobody_answers_is_dismissed(it: Driving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_tab, "WAITS_S", 0.5)
    it.show(ASKING)
    clicked = it.click("Confirm")
    while info(it).pending_dialog is not None:
        it.breathe()

    assert clicked.dialog is not None
    assert it.js("said.textContent") == "confirmed false"


def test_a_page_that_asks_before_it_is_left_waits_too(it: Driving) -> None:
    it.show(GUARDED)
    it.click("Confirm")
    it.do(HandleDialog(action="accept"), Acted)
    stay = it.do(Navigate(url=it.url("/article")), Navigated)
    it.do(HandleDialog(action="dismiss"), Acted)
    still = it.js("document.title")
    clicked = it.click("Leave")
    left = it.do(HandleDialog(action="accept"), Acted)

    assert stay.dialog is not None
    assert (stay.success, stay.dialog.type, still) == (False, "beforeunload", "Asks")
    assert clicked.dialog is not None
    assert clicked.dialog.type == "beforeunload"
    assert left.page is not None
    assert left.page.url == it.url("/article")


def test_a_tab_that_asks_before_it_is_left_is_closed_all_the_same(it: Driving) -> None:
    it.show(GUARDED)
    it.click("Confirm")
    it.do(CloseTab(tab_id=1), Acted)

    assert it.do(ListTabs(), Tabs).tabs == ()


@pytest.mark.full
def test_a_dialog_of_a_window_belongs_to_its_tab(it: Driving) -> None:
    greeting = page("<title>Pop</title><script>setTimeout(() => alert('From the window'), 400)</script><h1>Here</h1>")
    it.show(f"<button onclick=\"window.open('{greeting}')\">Open</button>")
    opened = it.click("Open").new_tab_created
    while it.do(GetDialogInfo(tab_id=opened), Dialogs).pending_dialog is None:
        it.breathe()
    fault = it.fault(GetPageInfo(tab_id=opened))
    it.do(HandleDialog(tab_id=opened, action="accept"), Acted)

    assert fault.actions[0].tool_to_use == "handle_dialog"
    assert info(it).dialog_history == ()
    assert it.js("document.body.innerText", tab=opened) == "Here"


def test_where_no_dialog_waits_there_is_nothing_to_answer(it: Driving) -> None:
    assert it.fault(HandleDialog(action="accept")).code is Code.EXECUTION_ERROR
    it.show(ASKING)
    assert it.fault(HandleDialog(action="accept")).code is Code.EXECUTION_ERROR
    it.click("Confirm")
    assert code(it.fault(HandleDialog(action="accept", text="x"))) == (Code.VALIDATION_INVALID_REQUEST, "text")
