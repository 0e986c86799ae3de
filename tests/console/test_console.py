"""The console in a real Chromium against a real Weft: each page with its main action, in light, dark and small."""

from __future__ import annotations

import json
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Route, expect, sync_playwright

from tests.console import WAIT_MS, ConsoleTab, console_tab
from tests.flows.system import System, weft_up
from tests.site import Site, site_in_thread
from tests.site.vectors import own_vectors, public_vectors
from tests.support.extension import CHROMIUM

pytestmark = [
    pytest.mark.nats,
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here"),
]

ACTORS: Final = "gateway,navigator,verifier,fetchers.intelligence,runner,keeper,policy,answerer,learner"
MAX_PACKED: Final = 120 * 1024
"""What all that is loaded at / may weigh."""

expect.set_options(timeout=WAIT_MS)


@pytest.fixture(scope="module")
def weft(tmp_path_factory: pytest.TempPathFactory) -> Generator[System]:
    """Run a Weft that reads pages without a browser."""
    with weft_up(tmp_path_factory.mktemp("weft"), "--actors", ACTORS, WEFT_PATTERN_LEARNING="false") as system:
        yield system


@pytest.fixture(scope="module")
def site() -> Generator[Site]:
    """Serve the site."""
    with site_in_thread() as served:
        yield served


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the pictures of this test run."""
    return tmp_path_factory.mktemp("pictures")


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    """Start one browser."""
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def tab(browser: Browser, weft: System, pictures: Path) -> Generator[ConsoleTab]:
    """Open the console as its owner; nothing of what the tests do with it makes the browser complain."""
    with console_tab(browser, weft.ready.rest, pictures) as opened:
        opened.log_in(weft.key)
        yield opened
        assert opened.complaints == []


def test_a_key_opens_the_console_and_a_wrong_one_does_not(browser: Browser, weft: System, pictures: Path) -> None:
    with console_tab(browser, weft.ready.rest, pictures) as tab:
        page = tab.page
        page.on("response", tab.weigh)
        page.goto(tab.base)
        expect(page.get_by_label("Key")).to_be_focused()
        tab.look("login")
        assert sum(tab.loaded.values()) <= MAX_PACKED, tab.loaded
        assert len(tab.loaded) > 10

        page.keyboard.type("weft_wrong")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_have_text("This key is not known, or is good no more.")
        assert [said for said in tab.complaints if "401" not in said] == []
        tab.complaints.clear()
        page.get_by_label("Key").fill(weft.key)
        page.keyboard.press("Enter")
        expect(tab.heading).to_be_focused()
        assert page.evaluate("[localStorage.length, document.cookie, location.href.includes('weft_')]") == [
            0,
            "",
            False,
        ]
        page.get_by_role("button", name="Log out").press("Enter")
        expect(page.get_by_label("Key")).to_be_focused()
        assert page.evaluate("sessionStorage.length") == 0
        assert tab.complaints == []


def test_a_page_is_read_from_home_and_home_says_what_happened(tab: ConsoleTab, site: Site) -> None:
    page = tab.page
    tab.open("#/", "Home")
    page.get_by_label("Address of the page").fill(site.url("/article?console"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="How a loom is warped")).to_be_visible()
    expect(page.locator(".markdown .heading")).to_have_text("What can go wrong")
    expect(page.locator(".ladder b").first).to_have_text("intelligence")
    expect(page.locator(".markdown a").first).to_have_attribute("rel", "noopener noreferrer")
    tab.look("page")
    page.get_by_role("button", name="curl").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "$WEFT_API_KEY" in copied
    assert "/article?console" in copied

    tab.open(f"#/page?url={site.url('/status/404')}", "Read a page", anew=False)
    expect(page.get_by_role("alert")).to_contain_text("HTTP_NOT_FOUND")
    tab.look("error")
    page.go_back()
    expect(page.get_by_role("heading", name="How a loom is warped")).to_be_visible()
    tab.open("#/", "Home")
    expect(page.locator(".health")).to_contain_text("ready")
    expect(page.locator("figure.chart canvas")).to_have_count(3)
    expect(page.get_by_role("region", name="What fails")).to_contain_text("HTTP_NOT_FOUND")
    expect(page.get_by_role("region", name="Today, all keys")).to_contain_text("intelligence")
    tab.look("home")


def test_what_pages_say_runs_nothing(tab: ConsoleTab, site: Site) -> None:
    vectors = [*own_vectors(), *public_vectors()]
    words = "\n\n".join(vectors)
    sure = {"score": 0.5, "level": words, "source": words}
    result = {
        "title": words,
        "content": {"markdown": words, "text": words},
        "metadata": {"finalUrl": words, "tier": words, "loadTime": 1, "timestamp": 1},
        "fieldConfidence": {"title": sure, "content": sure, "overall": sure, "fields": {words: sure}},
        "tables": [{"headers": [words], "rows": [[words]], "caption": words}],
        "links": {"content": [{"url": vector, "text": vector} for vector in vectors], "navigation": []},
        "usableFor": [words],
        "walls": [words],
    }
    action = {"action": words, "description": words, "priority": 1, "parameters": {"forceTier": words}}
    error = {"error": words, "code": words, "recommendedActions": [action]}
    page, asked = tab.page, list[str]()
    page.on("request", lambda request: asked.append(request.url))

    for name, data in (("result", result), ("error", error)):
        stream = f"event: {name}\ndata: {json.dumps(data)}\n\n"
        page.route("**/api/browse", partial(Route.fulfill, body=stream, content_type="text/event-stream"))
        tab.open("#/", "Home")
        tab.open(f"#/page?url={site.url('/' + name)}", "Read a page")
        expect(page.locator(".result, .failure")).to_be_visible()
        page.unroute("**/api/browse")

    assert page.evaluate("window.ran") is None
    links = page.evaluate("[...document.querySelectorAll('main a')].map((one) => one.protocol)")
    assert set(links) <= {"http:", "https:"}
    assert {one for one in asked if not one.startswith(tab.base)} == set()
