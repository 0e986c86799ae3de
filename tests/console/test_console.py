"""The console in a real Chromium against a real Weft: each page with its main action, in light, dark and small."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Generator
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Route, expect

from tests.console import WAIT_MS, ConsoleTab, console_tab, content
from tests.flows.system import System, weft_up
from tests.flows.test_crawl import until
from tests.site import Site, site_in_thread
from tests.support.extension import CHROMIUM

pytestmark = [
    pytest.mark.nats,
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here"),
]

READERS: Final = "navigator,verifier,fetchers.intelligence,fetchers.playwright"
ACTORS: Final = f"gateway=2,{READERS},runner,keeper,policy,answerer,learner,router,sessions"
MAX_PACKED: Final = 120 * 1024
"""What all that is loaded at / may weigh."""

SLOW_S: Final = 0.6
"""How long a list takes that is slower than the console waits before it writes where it stands."""

expect.set_options(timeout=WAIT_MS)


WEBHOOK: Final = """[[integrations]]
name = "webhook"
url = "{url}"
operations = ["page.saved"]
allow_private = ["127.0.0.0/8"]
"""
"""A program that is told things, and refuses them."""


@pytest.fixture(scope="module")
def weft(tmp_path_factory: pytest.TempPathFactory, site: Site) -> Generator[System]:
    """Run a Weft with two gateways, without the tier between the cheapest and the browser."""
    folder = tmp_path_factory.mktemp("weft")
    (folder / "data").mkdir()
    (folder / "data" / "integrations.toml").write_text(WEBHOOK.format(url=site.url("/status/404")))
    (folder / "data" / "policy.toml").write_text('[surfaces.rest]\nmode = "preapproved"\nask = ["delete"]\n')
    with weft_up(folder, "--actors", ACTORS, WEFT_RECORD_CONVERSATIONS="true") as system:
        yield system


@pytest.fixture(scope="module")
def site() -> Generator[Site]:
    """Serve the site."""
    with site_in_thread() as served:
        yield served


@pytest.fixture(scope="module")
def garden() -> Generator[Site]:
    """Serve a small site that changes."""
    with site_in_thread(content.Garden().answer) as served:
        yield served


@pytest.fixture(scope="module")
def tab(browser: Browser, weft: System, pictures: Path) -> Generator[ConsoleTab]:
    """Open the console as its owner; nothing of what the tests do with it makes the browser complain."""
    with console_tab(browser, weft.ready.rest, pictures) as opened:
        opened.log_in(weft.key)
        yield opened
        expected = ("status of 400", "status of 404")  # what was refused or gone, which the pages say themselves
        assert [one for one in opened.complaints if not any(words in one for words in expected)] == []


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
    page.get_by_role("button", name="Have a browser show it").press("Enter")
    expect(page.get_by_role("img", name="The window: How a loom is warped")).to_be_visible()
    tab.look("page")
    page.get_by_role("button", name="curl").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "$WEFT_API_KEY" in copied
    assert "/article?console" in copied

    page.get_by_label("list its requests").check()
    expect(page.get_by_role("region", name="Requests")).to_contain_text(site.url("/article?console"))
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


def test_a_run_is_found_followed_and_resumed_and_its_file_downloaded(tab: ConsoleTab, weft: System, site: Site) -> None:
    page, urls = tab.page, [site.url("/article?run"), site.url("/status/404")]
    body: dict[str, object] = {
        "templateId": "batch_extract_pages",
        "inputs": {"urls": urls},
        "options": {"mode": "sync", "artifacts": ["json"]},
    }
    run = weft.http.post("/api/runs", json=body).json()
    tab.open("#/runs", "Runs")
    expect(page.get_by_role("link", name="batch_extract_pages")).to_have_count(1)
    tab.look("runs")
    page.get_by_label("Status").select_option("queued")
    expect(page.get_by_text("No run is like that.")).to_be_visible()
    expect(page).to_have_url(re.compile("status=queued"))
    page.go_back()
    page.get_by_role("link", name="batch_extract_pages").press("Enter")
    expect(tab.heading).to_be_focused()
    assert page.url.endswith(f"#/runs/{run['runId']}")
    expect(page.locator(".timeline .bar")).to_have_count(2)
    expect(page.get_by_role("region", name="Result").locator("pre")).to_contain_text("How a loom is warped")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "batch_extract_pages.json"
    assert b"How a loom is warped" in Path(download.value.path()).read_bytes()
    tab.look("run")

    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("It goes on after")).to_be_visible()
    expect(page.locator(".figures .badge")).to_have_text("partial success")
    expect(page.locator(".timeline .bar")).to_have_count(2)
    before = page.url
    page.get_by_role("button", name="Run it again").press("Enter")
    expect(page).not_to_have_url(before)
    expect(page.get_by_text("It goes on after")).to_have_count(0)
    expect(page.locator(".figures .badge")).to_have_text("partial success")
    expect(page.get_by_role("region", name="Inputs")).to_contain_text("/article?run")
    tab.open(f"#/runs/{run['runId']}", "batch_extract_pages")
    packets = page.get_by_role("link", name="Its packets")
    name = (packets.get_attribute("href") or "").rpartition("/")[2]
    until(lambda: "fetchers.intelligence" in weft.http.get(f"/api/recordings/{name}").text)  # they are sent on later
    packets.press("Enter")
    expect(tab.heading).to_have_text("Recording")
    expect(page.locator(".timeline .name", has_text="fetchers.intelligence").first).to_be_visible()

    body["inputs"] = {"urls": [site.url(f"/article?{place}") for place in range(60)], "concurrency": 1}
    long = weft.http.post("/api/runs", json={**body, "options": {"mode": "async"}}).json()
    tab.open(f"#/runs/{long['runId']}", "batch_extract_pages", settled=False)
    expect(page.locator(".timeline .bar").first).to_be_visible()
    page.get_by_role("button", name="Cancel").press("Enter")
    page.get_by_role("button", name="Yes").press("Enter")
    expect(page.locator(".figures .badge")).to_have_text("canceled")
    assert len(weft.http.get("/api/runs").json()["runs"]) == 4


def test_what_waits_comes_by_itself_and_is_answered(tab: ConsoleTab, weft: System) -> None:
    page = tab.page
    tab.open("#/approvals", "Approvals")
    expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
    made = [weft.http.post("/api/tools/collection.create", json={"title": title}).json() for title in ("one", "two")]
    for one in made:
        collection = one["result"]["payload"]["collectionId"]
        asked = weft.http.post("/api/tools/collection.delete", json={"collectionId": collection})
        assert asked.status_code == 202, asked.text
    expect(page.get_by_role("button", name="Allow")).to_have_count(2)
    expect(page.locator(".approval").first).to_contain_text("delete_requires_approval")
    tab.look("approvals")
    page.get_by_role("button", name="Allow").first.press("Enter")
    expect(page.get_by_role("button", name="Allow")).to_have_count(1)
    page.get_by_role("button", name="Deny").press("Enter")
    expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
    page.get_by_label("show what was answered, too").check()
    expect(page.locator(".approval .badge", has_text="allowed")).to_have_count(1)
    expect(page.locator(".approval .badge", has_text="denied")).to_have_count(1)
    assert len(weft.http.get("/api/collections").json()["collections"]) == 1


def test_a_conversation_its_recording_and_a_pattern_are_shown_and_the_pattern_is_forgotten(
    tab: ConsoleTab, weft: System, site: Site
) -> None:
    page = tab.page
    asked = {"url": site.url("/article?told"), "localOnly": True}
    recorded = weft.http.post("/api/summarize", json=asked).raise_for_status().headers["x-conversation-id"]
    tab.open("#/conversations", "Conversations")
    tab.look("conversations")
    page.get_by_role("link", name="Summarize").first.press("Enter")
    expect(tab.heading).to_be_focused()
    expect(page.get_by_role("article", name="Answered")).to_contain_text("woven")
    expect(page.get_by_role("region", name="Calls of models")).to_contain_text("No model was asked.")
    tab.look("conversation")

    learned = {"format": "weft-patterns", "version": 1, "patterns": [{"url": site.url("/json")}]}
    weft.http.post("/api/patterns/import", json=learned).raise_for_status()
    tab.open("#/patterns", "Patterns")
    tab.look("patterns")
    page.locator("table a").press("Enter")
    expect(tab.heading).to_be_focused()
    page.get_by_role("button", name="Verify").press("Enter")
    expect(page.get_by_text("its API answers")).to_be_visible()
    tab.look("pattern")
    page.get_by_role("button", name="Forget it").press("Enter")
    page.get_by_role("button", name="Yes").press("Enter")
    expect(page.get_by_text("Nothing was learned yet")).to_be_visible()

    for part in ("web.summarize", "web.fetch.intelligence"):  # each replica sends on what it has noted
        until(lambda: part in weft.http.get(f"/api/recordings/{recorded}").text)  # noqa: B023 - is asked at once
    tab.open("#/recordings", "Recordings")
    page.get_by_role("link", name=recorded).press("Enter")
    expect(tab.heading).to_be_focused()
    expect(page.locator(".timeline li", has_text="web.fetch.intelligence")).to_contain_text("navigator")
    page.locator("summary", has_text="web.summarize").press("Enter")
    expect(page.locator(".timeline pre").last).to_contain_text("laika.llmcp")
    tab.look("recording")


@pytest.mark.parametrize("use", content.USES)
def test_what_is_kept_is_shown(tab: ConsoleTab, weft: System, garden: Site, use: content.Use) -> None:
    use(tab, weft, garden)


def test_a_key_is_made_for_less_and_offers_no_more(
    browser: Browser, tab: ConsoleTab, weft: System, pictures: Path
) -> None:
    page = tab.page
    tab.open("#/actors", "Actors")
    page.get_by_role("link", name="navigator").press("Enter")
    expect(page.get_by_role("region", name="What navigator answers to")).to_contain_text("web.browse")
    tab.look("actors")
    tab.open("#/keys", "Keys")
    page.get_by_label("Name", exact=True).fill("reader")
    for scope in ("sessions", "browser", "runs", "collections", "offers"):
        page.get_by_label(scope, exact=True).uncheck()
    page.get_by_label("Good for how long").select_option("a day")
    tab.look("keys")
    page.get_by_role("button", name="Make it").press("Enter")
    made = page.get_by_role("region", name="The key reader").locator("pre").inner_text()
    page.get_by_role("button", name="I have it").press("Enter")
    assert made not in page.content()

    with console_tab(browser, weft.ready.rest, pictures) as other:
        other.log_in(made)
        expect(other.page.locator("nav a")).to_have_text(
            ["Home", "Read a page", "History", "Approvals", "Conversations", "Patterns"]
        )
        expect(other.page.get_by_role("region", name="Today, this key")).to_be_visible()
        other.open("#/keys", "Not with this key")
        assert other.complaints == []
        page.get_by_role("button", name="Revoke").press("Enter")
        page.get_by_role("button", name="Yes").press("Enter")
        expect(page.get_by_text("No key was given out.")).to_be_visible()
        other.page.evaluate("location.hash = '#/conversations'")
        expect(other.page.get_by_role("alert")).to_have_text("This key is good no more. Log in with another.")


def test_the_bus_is_shown_and_tapped_and_a_dead_letter_dropped(tab: ConsoleTab, weft: System, site: Site) -> None:
    page = tab.page
    told = {"integration": "webhook", "operation": "page.saved", "payload": {"url": "https://a.example/?token=t0ken"}}
    for key in ("one", "two"):
        weft.http.post("/api/tools/integration.invoke", json={**told, "idempotencyKey": key})
    tab.open("#/bus", "Bus")
    queues, letters = page.get_by_role("region", name="Queues of work"), page.get_by_role("article")
    expect(queues.get_by_role("row", name="run_work")).to_be_visible()
    expect(page.get_by_role("region", name="Journals").get_by_role("row", name="ledger")).to_contain_text(
        "keeper tables"
    )
    expect(letters).to_have_count(2)
    letters.first.get_by_role("button", name="Look at it").press("Enter")
    expect(letters.first.locator("pre")).to_contain_text("https://a.example/?token=***")
    tab.look("bus")
    letters.first.get_by_role("button", name="Drop").press("Enter")
    page.get_by_role("button", name="Yes").press("Enter")
    expect(letters).to_have_count(1)
    letters.first.get_by_role("button", name="Send again").press("Enter")
    page.get_by_label("Find").fill("integration.")
    page.get_by_role("link", name="integration.resend").press("Enter")
    expect(tab.heading).to_have_text("Live tap")
    expect(page).to_have_url(re.compile(r"subject=integration\.resend"))

    page.get_by_label("Subject").fill(">")
    page.keyboard.press("Enter")
    expect(page.locator(".card-head .badge")).to_have_text("live")
    packets = page.get_by_role("button", name="web.browse", exact=True)
    _until_passed(weft, site, packets)
    packets.first.press("Enter")
    shown = page.get_by_role("region", name="web.browse").locator("pre")
    expect(shown).to_contain_text("/article?tapped")
    expect(shown).to_contain_text("token=***")
    expect(page.get_by_role("region", name="Its conversation")).to_contain_text("fetchers.intelligence")
    tab.look("tap")
    page.get_by_role("button", name="Pause").press("Enter")
    passed = page.locator(".figure", has_text="Passed by").locator("dd")
    weft.browse(site.url("/article?paused"))
    expect(passed).not_to_have_text("0")  # what came before the pause is drawn by now, too
    kept, before = packets.count(), passed.inner_text()
    weft.browse(site.url("/article?paused=still"))
    expect(passed).not_to_have_text(before)
    assert packets.count() == kept


def _until_passed(weft: System, site: Site, packets: Locator) -> None:
    """Read pages until one has passed by: the tap begins some time after the page is shown."""
    for number in range(40):
        weft.browse(site.url(f"/article?tapped={number}&token=t0ken"))
        if packets.count():
            return
    expect(packets.first).to_be_visible()


def test_settings_tell_where_they_come_from_and_tools_are_sent_to_a_model(tab: ConsoleTab) -> None:
    page = tab.page
    tab.open("#/settings", "Settings")
    page.get_by_label("Find").fill("api_key")
    setting = page.get_by_role("listitem").filter(has_text="WEFT_API_KEY")
    expect(setting).to_contain_text("***")
    page.get_by_label("From").select_option("environment")
    page.get_by_label("Find").fill("port")
    expect(page.get_by_role("listitem").filter(has_text="WEFT_PORT")).to_contain_text("8720")
    tab.look("settings")

    tab.open("#/routes?tool=web_answer", "Routes")
    why = page.get_by_role("region", name="Why one is chosen")
    expect(why).to_contain_text("no_providers_available")
    expect(page.locator("figure.chart canvas")).to_be_visible()
    page.get_by_role("textbox", name="Tools").fill("web_*")
    page.get_by_role("combobox", name="Provider").select_option("openai")
    page.get_by_role("textbox", name="Model").fill("gpt-4o-mini")
    page.keyboard.press("Enter")
    row = page.get_by_role("region", name="Table").get_by_role("row").filter(has_text="web_*")
    expect(row).to_contain_text("gpt-4o-mini")
    tab.look("routes")
    row.get_by_role("button", name="Test").press("Enter")
    expect(row).to_contain_text("it fails")
    row.get_by_role("button", name="Take back").press("Enter")
    page.get_by_role("button", name="Yes").press("Enter")
    expect(row).to_have_count(0)


def test_a_run_is_followed_past_the_death_of_the_gateway(tab: ConsoleTab, weft: System, site: Site) -> None:
    page, pages = tab.page, 40
    tab.open("#/settings", "Settings")
    inputs = {"urls": [site.url(f"/article?dies={place}") for place in range(pages)], "concurrency": 1}
    body = {"templateId": "batch_extract_pages", "inputs": inputs, "options": {"mode": "async"}}
    run = weft.http.post("/api/runs", json=body).json()
    tab.open(f"#/runs/{run['runId']}", "batch_extract_pages", settled=False)
    expect(page.locator(".timeline .bar").first).to_be_visible()
    replicas = weft.http.get("/api/system").json()["replicas"]
    following = [one["pid"] for one in replicas for of in one["subjects"] if of["subject"] == "http" and of["inFlight"]]
    assert len(following) == 1

    os.kill(following[0], signal.SIGKILL)

    expect(page.get_by_text("what happens meanwhile is told when it does")).to_be_visible()
    expect(page.locator(".figures .badge")).to_have_text("succeeded")
    expect(page.locator(".timeline .bar")).to_have_count(pages)
    tab.open("#/actors", "Actors")
    again = page.get_by_role("row").filter(has_text="gateway").locator("[data-name=Restarts]", has_text="1")
    expect(again).to_have_count(1)
    expect(page.locator("[data-name=Memory]").first).to_contain_text("MiB")
    tab.open("#/runs", "Runs")
    page.get_by_label("First those").select_option("changed last")
    expect(page.get_by_role("row").nth(1)).to_contain_text("succeeded")
    expect(page).to_have_url(re.compile(r"order=updatedAt\.desc"))
    tab.complaints[:] = [
        one for one in tab.complaints if "net::ERR" not in one
    ]  # that it is dead, the browser says too


def test_of_many_runs_those_in_view_are_asked_for_and_their_place_is_a_link(tab: ConsoleTab) -> None:
    page, count, asked = tab.page, 5_000, list[dict[str, str]]()

    def answer(route: Route) -> None:
        query = dict(parse_qsl(urlsplit(route.request.url).query))
        asked.append(query)
        if "offset" in query:
            time.sleep(SLOW_S)
        first = int(query["after"].removeprefix("run_")) + 1 if "after" in query else int(query.get("offset", 0))
        runs = [
            {"runId": f"run_{place:08d}", "templateId": f"template_{place}", "status": "succeeded", "createdAt": 1}
            | {"updatedAt": 1, "progress": {"totalSteps": 2, "doneSteps": 2}}
            for place in range(first, min(first + int(query["limit"]), count))
        ]
        route.fulfill(json={"runs": runs, "total": count, "offset": first})

    page.route("**/api/runs?*", answer)
    tab.open("#/runs", "Runs")
    expect(page.get_by_role("heading", name="5,000 runs")).to_be_visible()
    rows = page.locator(".virtual-body")
    rows.evaluate("(box) => { box.scrollTop = 90 * 42; }")
    expect(page.get_by_role("link", name="template_105", exact=True)).to_be_visible()
    rows.evaluate("(box) => { box.scrollTop = 3_000 * 42; }")
    expect(page.get_by_role("link", name="template_3000", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile(r"after=run_00002999$"))
    assert page.locator(".virtual-body [role=row]").count() < 60
    page.reload()
    expect(page.get_by_role("link", name="template_3000", exact=True)).to_be_visible()
    page.unroute("**/api/runs?*")

    begun = [(one.get("after"), one.get("offset")) for one in asked]
    assert {("run_00000099", None), (None, "2900"), ("run_00002999", None)} <= set(begun)
