"""What the pages of the console that show content are looked at with: a small site, and the ways of a user."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlencode

from playwright.sync_api import expect

from tests.console import ConsoleTab
from tests.console.hostile import SHOWN_BY
from tests.flows.system import System
from tests.flows.test_crawl import until
from tests.site import Site
from tests.site.answers import Answer, Ask, text
from tests.site.large import prose

_PATHS = {
    "/": ("/warp", "/weft", "/changing"),
    "/warp": ("/reed", "/heddle"),
    "/weft": ("/shuttle",),
    "/reed": ("/gone",),
}
NOT_FOUND = 404
PAGES = ("/", "/warp", "/weft", "/changing", "/reed", "/heddle", "/shuttle")
"""What there is of it."""


@dataclass(frozen=True)
class Garden:
    """A site of a few pages that link to each other; /changing says each time how often it was asked for."""

    visits: Counter[str] = field(default_factory=Counter[str])

    def answer(self, ask: Ask) -> Answer:
        """Answer with a page of its own for each path; /gone and all that are no pages of a site are not there."""
        self.visits[ask.path] += 1
        if ask.path in {"/gone", "/robots.txt", "/sitemap.xml"}:
            return text("Nothing is here.", status=404)
        name = ask.path.strip("/") or "garden"
        count = (
            f"<h2>How often</h2><p>It was asked for {self.visits[ask.path]} times.</p>" if name == "changing" else ""
        )
        links = " ".join(f'<a href="{path}">On to {path.strip("/")}</a>' for path in _PATHS.get(ask.path, ()))
        style = "<style>nav a { display: block; padding: 3rem; }</style>"
        words = "".join(f"<p>{words}</p>" for words in prose(name))
        body = f"<nav>{links}</nav><main><h1>About {name}</h1>{words}{count}</main>"
        return text(
            f"<!doctype html><html lang=en><title>About {name}</title>{style}{body}",
            headers=(("Cache-Control", "no-store"),),
        )


def of_another_key(weft: System, path: str) -> int:
    """Return the status that another key of this Weft is answered with, which is good for all that pages are."""
    made = weft.http.post("/api/keys", json={"name": "stranger", "scopes": ["browse", "browser"]}).json()
    answer = weft.http.get(path, headers={"Authorization": f"Bearer {made['key']}"})
    weft.http.delete(f"/api/keys/{made['id']}")
    return answer.status_code


def keep_a_collection(tab: ConsoleTab, _weft: System, garden: Site) -> None:
    """Begin a collection, add a page and a note, watch it, and see what a page has changed; then delete it."""
    page = tab.page
    tab.open("#/collections", "Collections")
    page.get_by_label("Title").fill("Looms <b>of</b> old")
    page.get_by_label("Tags").fill("weaving, history")
    page.get_by_role("button", name="Begin it").press("Enter")
    expect(tab.heading).to_have_text("Looms <b>of</b> old")
    page.get_by_label("Address of a page").fill(garden.url("/changing"))
    page.keyboard.press("Enter")
    expect(page.locator(".badge", has_text="captured")).to_have_count(1)
    page.get_by_label("A note of yours").fill("Ask about *warps*.")
    page.get_by_role("button", name="Keep it").press("Enter")
    expect(page.get_by_role("link", name="Ask about")).to_be_visible()
    page.get_by_label("Read its pages anew").select_option("1d")
    page.get_by_role("button", name="Set").press("Enter")
    expect(page.get_by_text("Now: every 1 d.")).to_be_visible()
    tab.look("collection")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").press("Enter")
    assert download.value.suggested_filename.endswith(".zip")

    page.get_by_role("link", name="About changing").press("Enter")
    expect(tab.heading).to_have_text("About changing")
    page.get_by_role("button", name="Read anew").press("Enter")
    page.get_by_role("link", name="with version 2").press("Enter")
    expect(page.locator(".diff .gone")).to_contain_text("asked for")
    before = int(re.sub(r"\D", "", page.locator(".diff .gone").inner_text()))
    expect(page.locator(".diff .new")).to_contain_text(f"asked for {before + 1} times")
    tab.look("source")
    page.get_by_role("link", name="Its collection").press("Enter")
    expect(tab.heading).to_have_text("Looms <b>of</b> old")
    page.get_by_role("button", name="Delete").press("Enter")
    page.get_by_role("button", name="Yes").press("Enter")
    page.get_by_role("link", name="Look at it").press("Enter")
    expect(page.locator(".approval")).to_contain_text("collection.delete")
    page.get_by_role("button", name="Allow").press("Enter")
    tab.open("#/collections", "Collections")
    tab.look("collections")


def walk_through_a_site(tab: ConsoleTab, _weft: System, garden: Site) -> None:
    """Begin a crawl, wait for its end, and see the site as a picture and as a table that say the same."""
    page = tab.page
    tab.open("#/crawls", "Crawls")
    page.get_by_label("Where it begins").fill(garden.url("/"))
    page.keyboard.press("Enter")
    expect(tab.heading).to_have_text("Crawl")
    rows = page.get_by_role("region", name="Its pages").locator("tbody tr")
    expect(rows).to_have_count(len(PAGES))
    expect(page.locator(".graph circle")).to_have_count(len(PAGES))
    expect(rows.filter(has_text="About reed")).to_contain_text(garden.url("/warp"))
    links = page.eval_on_selector_all(".graph a", "(links) => links.map((one) => one.href.baseVal)")
    assert sorted(links) == sorted(f"#/page?{urlencode({'url': garden.url(path)})}" for path in PAGES)
    tab.look("crawl")
    tab.open("#/crawls", "Crawls")
    expect(page.get_by_role("link", name="run_").first).to_be_visible()
    tab.look("crawls")


def take_a_browser_in_hand(tab: ConsoleTab, weft: System, garden: Site) -> None:
    """Look at a browser live, click in it by hand while no agent may, and hand it back."""
    page, http = tab.page, weft.http
    opened = http.post("/api/tools/create_session", json={"url": garden.url("/")}).json()["result"]["payload"]
    away = {"sessionId": opened["sessionId"], "url": garden.url("/weft")}
    tab.open("#/browsers", "Browsers")
    tab.look("browsers")
    assert of_another_key(weft, f"/api/browsers/{opened['sessionId']}/window") == NOT_FOUND
    page.get_by_role("link", name="sess_").press("Enter")
    expect(tab.heading).to_have_text("Browser")
    expect(page.get_by_role("img", name="The window: About garden")).to_be_visible()
    page.get_by_role("button", name="Take it in hand").press("Enter")
    expect(page.get_by_text("You have it in hand")).to_be_visible()
    for tool in ("navigate", "close_session"):
        given = {name: value for name, value in away.items() if tool == "navigate" or name != "url"}
        answer = http.post(f"/api/tools/{tool}", json=given)
        assert (answer.status_code, answer.json()["code"]) == (409, "VALIDATION_SESSION_HELD")
    page.get_by_role("textbox", name="Address").fill(garden.url("/warp"))
    page.keyboard.press("Enter")
    screen = page.get_by_role("application", name="The window: About warp")
    expect(screen).to_be_visible()
    tab.look("browser")
    screen.click(position={"x": 100, "y": 40})
    expect(page.get_by_role("application", name="The window: About reed")).to_be_visible()
    page.get_by_role("button", name="Back", exact=True).press("Enter")
    expect(screen).to_be_visible()
    screen.press("End")
    expect(page.get_by_role("status").get_by_text("press_key")).to_have_count(0)
    page.get_by_role("button", name="Hand it back").press("Enter")
    expect(page.get_by_role("button", name="Take it in hand")).to_be_visible()
    assert http.post("/api/tools/navigate", json=away).status_code == 200
    expect(page.get_by_role("img", name="The window: About weft")).to_be_visible()
    by_hand = http.post(f"/api/browsers/{opened['sessionId']}/act", json={"tool": "refresh"})
    assert (by_hand.status_code, by_hand.json()["code"]) == (409, "VALIDATION_SESSION_NOT_HELD")
    page.get_by_role("button", name="Close it").press("Enter")
    page.get_by_role("button", name="Yes").press("Enter")
    expect(page.get_by_text("No browser is open.")).to_be_visible()


def look_at_a_login_and_forget_it(tab: ConsoleTab, weft: System, _garden: Site) -> None:
    """Look at a saved login, and forget it."""
    page = tab.page
    weft.keep_login("console")
    tab.open("#/logins", "Logins")
    expect(page.get_by_text("as console")).to_be_visible()
    tab.look("logins")
    page.get_by_role("button", name="Forget").press("Enter")
    page.get_by_role("button", name="Yes").press("Enter")
    expect(page.get_by_text("No login is saved with this key.")).to_be_visible()


def look_at_what_was_read(tab: ConsoleTab, weft: System, garden: Site) -> None:
    """Read a page twice and one that is not there, and see in the history what has changed."""
    page = tab.page
    for path, tier in (("/changing", "intelligence"), ("/changing", "playwright"), ("/gone", "intelligence")):
        options = {"freshnessRequirement": "realtime", "forceTier": tier}
        weft.http.post("/api/browse", json={"url": garden.url(path), "options": options})
    until(lambda: garden.url("/gone") in weft.http.get("/api/visits").text)  # it is noted after the answer has gone
    tab.open("#/visits?host=127.0.0.1", "History")
    expect(page.get_by_text("HTTP_NOT_FOUND").first).to_be_visible()
    tab.look("visits")
    page.get_by_label("Came of it").select_option("read")
    expect(page.get_by_text("HTTP_NOT_FOUND")).to_have_count(0)
    page.get_by_role("link", name="About changing").first.press("Enter")
    expect(tab.heading).to_have_text("About changing")
    expect(page.locator(".ladder b").first).to_have_text("playwright")
    expect(page.get_by_role("table", name="Requests that the page has made")).to_contain_text("/changing")
    _has_drawn(tab, "The page as the browser showed it")
    page.get_by_role("link", name="with this one").first.press("Enter")
    expect(page.locator(".diff .gone")).to_contain_text("asked for")
    tab.look("visit")
    path = f"/api/visits/{page.url.split('?')[-2].rpartition('/')[2]}"
    assert {of_another_key(weft, f"{path}{part}") for part in ("", "/screenshot")} == {NOT_FOUND}


def see_what_a_step_has_seen(tab: ConsoleTab, weft: System, garden: Site) -> None:
    """Compare two pages in a browser, and look at how one of them looked."""
    urls = [garden.url("/warp"), garden.url("/reed")]
    body = {
        "templateId": "multi_tab_compare",
        "inputs": {"urls": urls},
        "options": {"mode": "sync", "screenshots": True},
    }
    run = weft.http.post("/api/runs", json=body).json()
    tab.open(f"#/runs/{run['runId']}", "multi_tab_compare")
    tab.page.locator("summary", has_text="Screenshot").first.press("Enter")
    _has_drawn(tab, "The page after")
    tab.look("run-screenshot")
    assert tab.page.locator("summary", has_text="Screenshot").count() == len(urls)


def _has_drawn(tab: ConsoleTab, words: str) -> None:
    """See that a picture has come: it has a size of its own."""
    screen = tab.page.get_by_role("img", name=words)
    expect(screen).to_be_visible()
    expect(screen).not_to_have_attribute("width", "640")


Use = Callable[[ConsoleTab, System, Site], None]
USES: Final[tuple[Use, ...]] = (
    keep_a_collection,
    walk_through_a_site,
    take_a_browser_in_hand,
    look_at_a_login_and_forget_it,
    look_at_what_was_read,
    see_what_a_step_has_seen,
)
"""How a user uses each page."""

LINKS: Final = """[...document.querySelectorAll('main a')].map(
  (one) => new URL(one.href.baseVal ?? one.href, location).protocol)"""
"""The protocols of all links, those in pictures included."""


def shown_to_hostile_words(tab: ConsoleTab, address: str) -> set[str]:
    """Show a page whose every word is hostile, all that it folds away included; returns the protocols of its links."""
    page = tab.page
    page.evaluate("(hash) => { location.hash = hash; }", address)
    main = page.locator("main")
    expect(main).to_contain_text("<")
    if address == "#/bus/tap":
        page.locator("button.plain").first.press("Enter")
        expect(main.locator("pre")).to_contain_text("<")
    if address in SHOWN_BY:
        words, shown = SHOWN_BY[address]
        main.get_by_role("button", name=words).first.press("Enter")
        expect(main.locator(shown).first).to_be_visible()
    page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
    return set(page.evaluate(LINKS))


def shown_an_error(tab: ConsoleTab, address: str) -> set[str]:
    """Show a page whose every question is refused in hostile words; returns the protocols of its links."""
    tab.page.evaluate("(hash) => { location.hash = hash; }", "#/nowhere")
    expect(tab.heading).to_have_text("There is no such page")
    tab.page.evaluate("(hash) => { location.hash = hash; }", address)
    if address != "#/":
        expect(tab.page.locator("main .failure").first).to_be_visible()
    return set(tab.page.evaluate(LINKS))
