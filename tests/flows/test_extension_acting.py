"""What the extension does of what it is told, in a real Chromium: a gateway of the test says what is to be done."""

from __future__ import annotations

from collections.abc import Generator
from itertools import count
from typing import Any, Final

import msgspec
import pytest
from playwright.sync_api import Page, expect, sync_playwright

from protocol.acting.steps import StepVerdict, VerificationTier
from tests.extension.scripted import Script, ScriptedGateway, act, scripted_gateway
from tests.integration.playwright.markup import page as made_page
from tests.requirements import requirement
from tests.site import Site
from tests.support.extension import CHROMIUM, WAIT_MS, ExtensionBrowser, Panel, extension_browser

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(CHROMIUM is None, reason="the shell of Chromium has no extensions, and a whole one is missing"),
    pytest.mark.full,
]

MARK: Final = "[data-weft-mark]"
BUSY: Final = "setTimeout(() => { const end = Date.now() + 4000; while (Date.now() < end); }, 0)"
BUTTON: Final = "<button onclick=\"said.textContent += 'x'\">Order</button><p id=said></p>"
FIELDS: Final = """<form onsubmit="said.textContent += 'sent '; return false">
<input name=elements aria-label=Named></form>
<form onsubmit="said.textContent += 'wrong '; return false"><input aria-label=One><input aria-label=Two></form>
<p contenteditable aria-label=Notes role=textbox>First</p><input type=number aria-label=Amount value=5>
<input aria-label=Keys onkeydown="said.textContent += [event.key, event.code, event.keyCode] + ' '"><p id=said></p>
<select aria-label=Land><option value=at>Austria</option><option value=de>Germany</option></select>
<label><input type=checkbox>Agreed</label><label for=off>Off</label><input id=off disabled>
<textarea aria-label=Long></textarea>"""

_numbers = count()


@pytest.fixture(scope="module")
def gateway() -> Generator[ScriptedGateway]:
    """Serve a gateway whose answers the tests write."""
    with scripted_gateway() as gateway:
        yield gateway


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory, gateway: ScriptedGateway) -> Generator[ExtensionBrowser]:
    """Open a browser whose extension asks that gateway."""
    settings = {"gateway": gateway.url, "key": "weft_test", "name": "test", "models": False}
    with sync_playwright() as driver, extension_browser(driver, tmp_path_factory.mktemp("browser")) as opened:
        opened.worker.evaluate("(settings) => chrome.storage.local.set(settings)", settings)
        yield opened


@pytest.fixture
def tab(browser: ExtensionBrowser) -> Generator[Page]:
    """Open a tab of its own for a test."""
    page = browser.context.new_page()
    yield page
    page.close()


def shown(browser: ExtensionBrowser, tab: Page, site: Site, body: str) -> Panel:
    """Show a page with a body of its own, and its panel."""
    tab.goto(site.url(made_page(body, number=next(_numbers))))
    return browser.panel(tab)


def turns(browser: ExtensionBrowser, panel: Panel) -> list[dict[str, Any]]:
    """Return the actions that the session of a tab has kept."""
    return [turn for turn in browser.state(panel.tab)["turns"] if "action" in turn]


def reports(gateway: ScriptedGateway) -> list[tuple[str, bool, str]]:
    """Return how each action came out, by what the rounds after it said."""
    return [
        (one["lastActionStatus"], one["verification_passed"], one["verification_message"])
        for one in gateway.rounds
        if "lastActionStatus" in one
    ]


def test_what_is_written_stands_and_is_found_to(
    browser: ExtensionBrowser, tab: Page, site: Site, gateway: ScriptedGateway
) -> None:
    panel = shown(browser, tab, site, FIELDS)
    long = "word " * 60

    wanted = (("Land", "Germany"), ("Agreed", "true"), ("Long", long), ("Named", 'so "called"'))
    gateway.begin(
        *(act('setValue(ID, "?")', on=name, value=value) for name, value in wanted),
        act('setValue(ID, "?", false)', on="Notes", value=" and second"),
    )

    assert panel.reach("Fill it in") == "Done"
    assert reports(gateway) == [("success", True, "It stands as it should.")] * 5
    assert tab.get_by_label("Land").input_value() == "de"
    assert tab.get_by_label("Agreed").is_checked()
    assert tab.get_by_label("Long").input_value() == long
    assert tab.get_by_label("Named").input_value() == 'so "called"'
    assert tab.get_by_label("Notes").inner_text() == "First and second"
    assert tab.locator(MARK).count() == 0


def test_keys_do_what_a_browser_does_for_them(
    browser: ExtensionBrowser, tab: Page, site: Site, gateway: ScriptedGateway
) -> None:
    panel = shown(browser, tab, site, FIELDS)

    def keys(name: str, *pressed: str) -> list[Script]:
        return [act("focus(ID)", on=name), *(act(f'press("{key}")') for key in pressed)]

    gateway.begin(
        *keys("Named", "Enter"),
        *keys("One", "Enter"),
        *keys("Amount", "ArrowRight", "ArrowUp"),
        *keys("Keys", "Shift+a", "7", "."),
        *keys("Named", "Shift+Tab"),
    )

    assert panel.reach("Press some keys") == "Done"
    assert tab.locator("#said").inner_text() == "sent A,KeyA,65 7,Digit7,55 .,.,0"
    assert tab.get_by_label("Keys").input_value() == "A7."
    assert tab.get_by_label("Amount").input_value() == "6"
    assert tab.evaluate("document.activeElement.getAttribute('aria-label')") == "Long"


def test_what_cannot_be_done_is_refused_and_the_task_goes_on(
    browser: ExtensionBrowser, tab: Page, site: Site, gateway: ScriptedGateway
) -> None:
    panel = shown(browser, tab, site, FIELDS)
    actions = ("constructor(1, 2)", "toString()", "navigate()", "navigate(javascript:1/0)", "close(0)")
    gateway.begin(*map(act, actions), lambda _: {"status": "executing"})

    assert panel.reach("Do what cannot be done") == "Done"
    codes = [one["lastActionError"]["code"] for one in gateway.rounds if "lastActionError" in one]
    assert codes == ["UNKNOWN_ACTION", "UNKNOWN_ACTION", "REFUSED", "REFUSED", "REFUSED", "UNKNOWN_ACTION"]


@requirement("001.3.observation")
def test_what_the_gateway_has_found_of_an_action_stands_beside_it(
    browser: ExtensionBrowser, tab: Page, site: Site, gateway: ScriptedGateway
) -> None:
    panel = shown(browser, tab, site, BUTTON)
    evidence = ("The page says: 'Sold out'.",)
    verdict = StepVerdict(succeeded=False, confidence=0.1, tier=VerificationTier.RULES, evidence=evidence)
    failed = {"status": "failed", "action": "fail()", "verification": msgspec.to_builtins(verdict)}
    gateway.begin(act("click(ID)", on="Order"), lambda _: failed)

    panel.reach("Order it")
    assert [(turn["status"], turn["observation"]) for turn in turns(browser, panel)] == [("error", evidence[0])]


def test_each_task_is_sent_a_picture_of_its_own(
    browser: ExtensionBrowser, tab: Page, site: Site, gateway: ScriptedGateway
) -> None:
    panel = shown(browser, tab, site, BUTTON)
    tab.bring_to_front()
    wanted = {
        "status": "needs_context",
        "requestedDomMode": "hybrid",
        "needsScreenshot": True,
        "needsSkeletonDom": True,
    }
    sent: list[bool] = []

    for _ in range(2):
        tab.bring_to_front()
        gateway.begin(lambda _: wanted)
        panel.reach("Look at it")
        sent += [bool(one["screenshot"]) for one in gateway.rounds if "screenshot" in one]

    assert sent == [True, True]


def test_what_is_typed_into_a_secret_field_is_kept_nowhere(
    browser: ExtensionBrowser, tab: Page, site: Site, gateway: ScriptedGateway
) -> None:
    fields = "<label>API key <input onkeydown=\"if (event.key === 'Enter') this.value = ''\"></label>"
    panel = shown(browser, tab, site, f"{fields}<label>Password <input type=password disabled></label>")
    secret = "tulip-88-word"
    gateway.begin(
        act("focus(ID)", on="API key"),
        act(f'type("{secret}\n")', f"I type {secret}.", text=f"{secret}\n"),
        act(f'fill(ID, "{secret}")', f"I fill in {secret}.", on="API key", value=secret),
        act(f'setValue(ID, "{secret}")', on="Password", value=secret),
    )

    assert panel.reach("Log in") == "Done"
    kept = turns(browser, panel)
    assert [one["status"] for one in kept] == ["success", "success", "success", "error"]
    assert [one["action"].partition("(")[0] for one in kept] == ["focus", "type", "fill", "setValue"]
    assert secret not in str(kept)
    assert secret not in panel.page.locator("#log").inner_text()


def test_what_the_page_said_before_is_not_said_of_the_next_action(
    browser: ExtensionBrowser, tab: Page, site: Site, gateway: ScriptedGateway
) -> None:
    body = """<button onclick="said.textContent = 'Could not save: error 5'">Save</button>
    <button onclick="done.textContent = 'ok'">Next</button><p id=said role=alert></p><p id=done></p>"""
    panel = shown(browser, tab, site, body)
    gateway.begin(act("click(ID)", on="Save"), act("click(ID)", on="Next"))

    assert panel.reach("Save, then go on") == "Done"
    assert [passed for _, passed, _ in reports(gateway)] == [False, True]
    assert [one["errors_detected"] for one in gateway.rounds[1:]] == [["Could not save: error 5"], []]


def test_a_task_that_fails_leaves_the_page(
    browser: ExtensionBrowser, tab: Page, site: Site, gateway: ScriptedGateway
) -> None:
    panel = shown(browser, tab, site, BUTTON)
    gateway.begin(lambda _: 400)

    assert panel.reach("Order") == "Failed"
    expect(tab.locator(MARK)).to_have_count(0, timeout=WAIT_MS)


def test_nothing_is_begun_any_more_once_it_is_stopped(
    browser: ExtensionBrowser, tab: Page, site: Site, gateway: ScriptedGateway
) -> None:
    """The page is busy while the action comes and while it is stopped: it hears of both only when that is over."""
    panel = shown(browser, tab, site, BUTTON)
    gateway.begin(act("click(ID)", on="Order"))
    gateway.held.clear()
    panel.begin("Order")
    assert gateway.asked.wait(WAIT_MS / 1_000)
    tab.evaluate(BUSY)
    gateway.held.set()
    expect(panel.page.locator("#log code")).to_have_count(1, timeout=WAIT_MS)
    panel.page.locator("#stop").click()

    assert panel.ended() == "Stopped"
    expect(tab.locator(MARK)).to_have_count(0, timeout=WAIT_MS)
    tab.wait_for_timeout(1_000)  # what is wrong would come of it by then
    assert tab.locator("#said").inner_text() == ""
    assert len(gateway.rounds) == 1


def test_who_answers_before_the_page_is_left_is_heard(
    browser: ExtensionBrowser, tab: Page, site: Site, gateway: ScriptedGateway
) -> None:
    panel = shown(browser, tab, site, BUTTON)
    gateway.begin(
        lambda _: {"status": "needs_user_input", "userQuestion": "How many?"},
        act("click(ID)", on="Order"),
    )
    gateway.held.clear()
    panel.begin("Order")
    assert gateway.asked.wait(WAIT_MS / 1_000)
    tab.evaluate(BUSY)
    gateway.held.set()
    panel.answer("One")

    assert panel.ended() == "Done"
    assert tab.locator("#said").inner_text() == "x"
    assert [one["query"] for one in gateway.rounds] == ["Order", "One", "Order"]
