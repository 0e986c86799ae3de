"""The console beside what is hostile or goes wrong: texts that would run, Markdown without end, late answers."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.console import ConsoleTab, console_tab, content
from tests.console.hostile import ADDRESSES, HostileGateway
from tests.flows.system import System, weft_up
from tests.site.vectors import own_vectors, public_vectors
from tests.support.extension import CHROMIUM

pytestmark = [
    pytest.mark.nats,
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here"),
]


@pytest.fixture(scope="module")
def weft(tmp_path_factory: pytest.TempPathFactory) -> Generator[System]:
    """Run a gateway alone: what it would be asked is answered by the tests."""
    with weft_up(tmp_path_factory.mktemp("weft"), "--actors", "gateway") as system:
        yield system


@pytest.fixture
def tab(browser: Browser, weft: System, pictures: Path) -> Generator[ConsoleTab]:
    """Open the console as its owner."""
    with console_tab(browser, weft.ready.rest, pictures) as opened:
        opened.log_in(weft.key)
        yield opened


def test_no_text_that_the_console_is_told_runs_or_leads_astray(tab: ConsoleTab) -> None:
    gateway, page, requested = HostileGateway([*own_vectors(), *public_vectors()]), tab.page, list[str]()
    page.on("request", lambda request: requested.append(request.url))
    page.route("**", gateway.answer)
    page.reload()

    led = [(address, content.shown_to_hostile_words(tab, address)) for address in ADDRESSES]
    gateway.failing = True
    led += [(address, content.shown_an_error(tab, address)) for address in ADDRESSES]

    assert page.evaluate("window.ran") is None
    assert [(address, protocols) for address, protocols in led if not protocols <= {"http:", "https:"}] == []
    assert {one for one in requested if not one.startswith(tab.base)} == set()
    assert [one for one in tab.complaints if "status of 400" not in one] == []


def test_markdown_that_would_take_minutes_or_cannot_be_drawn_ends_no_page(tab: ConsoleTab) -> None:
    page, visit = tab.page, {"id": "vis_a", "at": 1, "url": "https://a.example/", "tookMs": 1, "chars": 9}
    table = "|a" * 2_000 + "|\n" + "|-" * 2_000 + "|\n" + "|b\n" * 20_000
    for words in (">" * 3_000, "_a_" * 60_000, table):
        answer = {"visit": visit | {"markdown": words}}
        page.route("**/api/visits/vis_a", partial(Route.fulfill, json=answer))
        tab.open("#/visits/vis_a", "A visit")
        expect(page.locator(".markdown")).to_contain_text(words[:3])
        page.unroute("**/api/visits/vis_a")
        tab.open("#/keys", "Keys")
    page.route("**/api/settings", partial(Route.fulfill, json={"settings": [None]}))
    tab.open("#/settings", "This page cannot be drawn", anew=False)
    page.unroute("**/api/settings")
    page.get_by_role("button", name="Try again").press("Enter")
    expect(tab.heading).to_have_text("Settings")


def test_what_is_typed_by_hand_is_done_in_its_order(tab: ConsoleTab) -> None:
    page, done, held = tab.page, list[Any](), list[Route]()
    view = {"tabId": 1, "url": "https://a.example/", "title": "A", "width": 8, "height": 8}

    def answer(route: Route) -> None:
        done.append(route.request.post_data_json)
        if len(done) == 1:
            held.append(route)
        else:
            route.fulfill(json={"result": {"payload": {}}})

    page.route("**/api/browsers/sess_a/window", partial(Route.fulfill, json=view))
    page.route("**/api/browsers/sess_a/hand", partial(Route.fulfill, json={"heldUntil": 1}))
    page.route("**/api/browsers/sess_a/act", answer)
    tab.open("#/browsers/sess_a", "Browser")
    page.get_by_role("button", name="Take it in hand").press("Enter")
    page.get_by_role("application").focus()
    with page.expect_request("**/act"):
        page.keyboard.type("loom")
    page.keyboard.press("Enter")
    with page.expect_response(lambda response: "press_key" in (response.request.post_data or "")):
        held[0].fulfill(json={"result": {"payload": {}}})
    page.unroute_all()

    assert [(one["tool"], one["arguments"]) for one in done] == [
        ("type_keys", {"text": "l"}),
        ("type_keys", {"text": "oom"}),
        ("press_key", {"key": "Enter"}),
    ]
