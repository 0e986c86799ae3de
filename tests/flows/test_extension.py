"""The browser extension in a real Chromium against a real Weft: paired, used by keys, stopped, tricked, cut off."""

from __future__ import annotations

import base64
import io
import json
import os
import signal
import time
import uuid
from collections.abc import Generator
from itertools import count
from typing import Any, Final

import pytest
from PIL import Image
from playwright.sync_api import Page, Playwright, expect, sync_playwright

from actors.gateway.access.rules import EXTENSION_ORIGIN
from tests.acting.miniwob import MiniWob, miniwob
from tests.extension import axe_source, pages
from tests.extension.relay import Relay, relay_to
from tests.flows.system import System, weft_up
from tests.flows.test_interact import GOAL, ONCE
from tests.integration.playwright.markup import page as made_page
from tests.requirements import requirement
from tests.site import Site
from tests.site.shop import ORDERED, PASSWORD, shop_changes
from tests.site.vectors import own_vectors, public_vectors
from tests.support.extension import CHROMIUM, WAIT_MS, ExtensionBrowser, Panel, extension_browser
from tests.support.scale import first, sized

pytestmark = [
    pytest.mark.nats,
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(CHROMIUM is None, reason="the shell of Chromium has no extensions, and a whole one is missing"),
]

ACTORS: Final = "gateway=2,planner=2,verifier,policy,keeper"
LOGIN: Final = f'Enter "ann" into "User name", enter "{PASSWORD}" as password, click "Log in"'
DARK: Final = 40
MARK: Final = "[data-weft-mark]"
NARROW: Final = 320
_numbers = count()


@pytest.fixture(scope="module")
def relay() -> Generator[Relay]:
    """Stand before the gateway, and keep what is sent to it."""
    with relay_to() as relay:
        yield relay


@pytest.fixture(scope="module")
def weft(tmp_path_factory: pytest.TempPathFactory, relay: Relay) -> Generator[System]:
    """Run a Weft with two of those who answer clients, as many rounds as they like, and push by the relay."""
    push = {"WEFT_PUSH_CLIENT_URL": relay.url.replace("http", "ws")}
    with weft_up(tmp_path_factory.mktemp("weft"), "--actors", ACTORS, WEFT_INTERACT_PER_MINUTE="0", **push) as system:
        relay.target = system.ready.rest
        yield system


@pytest.fixture(scope="module")
def playwright() -> Generator[Playwright]:
    """Share one driver."""
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="module")
def browser(
    playwright: Playwright, tmp_path_factory: pytest.TempPathFactory, weft: System, relay: Relay
) -> Generator[ExtensionBrowser]:
    """Open a browser whose extension is paired, by the relay."""
    with extension_browser(playwright, tmp_path_factory.mktemp("browser")) as opened:
        page = opened.context.pages[0]
        page.goto(f"{weft.ready.rest}/pair")
        panel = opened.panel(page)
        panel.pair(pairing_link(weft, "--models").replace(weft.ready.rest, relay.url))
        panel.page.close()
        yield opened


@pytest.fixture
def tab(browser: ExtensionBrowser) -> Generator[Page]:
    """Open a tab of its own for a test."""
    page = browser.context.new_page()
    yield page
    page.close()


@pytest.fixture
def unpaired(browser: ExtensionBrowser) -> Generator[ExtensionBrowser]:
    """Have the extension forget its gateway for a test."""
    kept = browser.worker.evaluate("chrome.storage.local.get(null)")
    browser.worker.evaluate("chrome.storage.local.clear()")
    yield browser
    browser.worker.evaluate("(kept) => chrome.storage.local.set(kept)", kept)


def pairing_link(weft: System, *options: str) -> str:
    """Ask for a link that pairs."""
    link = weft.run("extension", "--pair", *options).stdout.strip()
    assert link.startswith(f"{weft.ready.rest}/pair#weft_")
    return link


def shown(browser: ExtensionBrowser, tab: Page, site: Site, body: str) -> Panel:
    """Show a page with a body of its own, and its panel."""
    tab.goto(site.url(made_page(body, number=next(_numbers))))
    return browser.panel(tab)


def test_a_login_by_keys_alone_is_one_trace_and_keeps_its_secret(
    browser: ExtensionBrowser, tab: Page, site: Site, relay: Relay
) -> None:
    tab.goto(site.url(f"/shop?{next(_numbers)}"))
    panel = browser.panel(tab)
    begun = len(relay.traces)

    assert panel.reach(LOGIN) == "Done"
    expect(tab.locator("h1")).to_have_text("Welcome")
    assert [one.partition("(")[0] for one in panel.actions] == ["setValue", "setValue", "click"]
    assert panel.page.locator("#plan li").all_inner_texts()[-1].endswith("(done)")
    assert PASSWORD not in panel.page.locator("#log li:not(.user)").all_inner_texts()
    traces = {one.split("-")[1] for one in relay.traces[begun:] if one}
    assert len(traces) == 1
    trees = [json.dumps(one.get("interactiveTree")) for one in relay.rounds]
    assert PASSWORD not in "".join(trees)
    expect(panel.page.locator("body")).to_have_attribute("data-push", "on", timeout=WAIT_MS)
    expect(panel.page.locator("#messages > li")).to_have_count(5, timeout=WAIT_MS)
    state = browser.state(panel.tab)
    assert (state["status"], state["task"]["body"]) == ("done", None)
    assert tab.locator(MARK).count() == 0


def test_one_click_on_the_page_of_the_gateway_pairs_once_and_nobody_else_gets_a_key(
    weft: System, unpaired: ExtensionBrowser, tab: Page, site: Site
) -> None:
    link = pairing_link(weft)
    tab.goto(site.url(made_page("<p>A stranger's page</p>")))
    told = tab.evaluate(pages.STRANGER, link)
    tab.goto(link)
    assert tab.url.endswith("/pair")
    policy = (tab.reload() or pytest.fail("no answer")).headers["content-security-policy"]
    tab.goto("about:blank")
    tab.goto(link)
    wrong = look_at(tab)
    tab.get_by_role("button", name="Pair").press("Enter")
    expect(tab.get_by_role("status")).to_contain_text("Paired.", timeout=WAIT_MS)
    wrong += look_at(tab)
    kept = unpaired.worker.evaluate("chrome.storage.local.get(null)")
    tab.goto("about:blank")
    tab.goto(link)
    tab.get_by_role("button", name="Pair").press("Enter")
    expect(tab.get_by_role("status")).to_contain_text("used up", timeout=WAIT_MS)
    wrong += look_at(tab)
    tab.goto(f"{weft.ready.rest}/pair")
    wrong += look_at(tab)

    assert wrong == []
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'none'" in policy
    assert told == ["This page does not pair.", "no answer", "refused"]
    keys = {one["name"]: one["scopes"] for one in weft.http.get("/api/keys").json()["keys"]}
    assert (kept["gateway"], keys[kept["name"]], kept["models"]) == (weft.ready.rest, ["browser"], False)
    for path in ("/pair", "/api/pair"):
        rebound = weft.http.request("GET" if path == "/pair" else "POST", path, headers={"Host": "evil.example"})
        assert rebound.status_code == 421
    assert not any("pair" in scopes for name, scopes in keys.items() if name == kept["name"])
    code = pairing_link(weft, "--models").rpartition("#")[2]
    headers = {"Origin": EXTENSION_ORIGIN, "Authorization": f"Bearer {code}"}
    assert weft.http.post("/api/pair", headers=headers).json()["scopes"] == ["browser", "models"]
    revoked = weft.run("keys", "revoke", kept["name"])
    assert revoked.returncode == 0
    own = {"Authorization": f"Bearer {kept['key']}"}
    while weft.http.get("/api/session", headers=own).status_code != 401:  # every gateway hears of it within a second
        time.sleep(0.05)


def test_more_of_the_page_is_sent_where_it_is_asked_for_and_no_secret_goes_along(
    browser: ExtensionBrowser, tab: Page, site: Site, relay: Relay
) -> None:
    panel = shown(browser, tab, site, pages.PAINTED)
    tab.bring_to_front()
    begun = len(relay.rounds)

    panel.reach("Press the picture that looks like the sea")
    panel.page.locator("#again").click()
    panel.reach("Frobnicate the gizmo")
    rounds = relay.rounds[begun:]

    whole = next(one for one in rounds if one.get("screenshot"))
    image = Image.open(io.BytesIO(base64.b64decode(whole["screenshot"])))
    assert (image.format, image.width <= 1024, bool(whole["skeletonDom"])) == ("JPEG", True, True)
    before = rounds[rounds.index(whole) - 1]
    assert set(whole) - set(before) == {"screenshot", "screenshotHash", "skeletonDom"}
    for secret in ("input[type=password]", "#deep input"):
        box = tab.locator(secret).bounding_box()
        assert box is not None
        scale = image.width / float(tab.evaluate("innerWidth"))
        across, down = round((box["x"] + 8) * scale), round((box["y"] + 8) * scale)
        assert image.convert("L").tobytes()[down * image.width + across] < DARK
    dom = next(one["dom"] for one in rounds if one.get("dom"))
    assert (dom[:5], "onsubmit" in dom, "data-weft-mark" in dom) == ("<html", False, False)
    assert "dom" not in rounds[0]
    sent = json.dumps([{name: value for name, value in one.items() if "rl" not in name} for one in rounds])
    assert [one for one in pages.SECRETS if one in sent] == []


def test_escape_on_the_page_stops_at_once_and_made_up_keys_do_not(
    browser: ExtensionBrowser, tab: Page, site: Site
) -> None:
    panel = shown(browser, tab, site, pages.SLOW)
    panel.begin('Wait 20 seconds, then click "Later"')
    expect(tab.locator(MARK)).to_have_count(1, timeout=WAIT_MS)
    expect(panel.page.locator("#log code")).to_have_count(1, timeout=WAIT_MS)

    tab.evaluate("dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))")
    # What has a name with a hyphen a page may define itself, and look into.
    assert tab.locator(MARK).evaluate("(mark) => [mark.shadowRoot, mark.localName]") == [None, "div"]
    assert panel.page.locator("#status").inner_text() == "At work"
    tab.bring_to_front()
    tab.keyboard.press("Escape")
    assert panel.ended() == "Stopped"
    expect(tab.locator(MARK)).to_have_count(0)
    assert tab.locator("#said").inner_text() == ""


@pytest.mark.parametrize(
    "body",
    first(
        1,
        [
            pytest.param(pages.moved(1), id="moved once"),
            pytest.param(pages.moved(2), id="moved twice", marks=pytest.mark.full),
            pytest.param(pages.moved(1, under_the_mouse=True), id="moved under the mouse"),
            pytest.param(pages.COVERED, id="covered", marks=pytest.mark.full),
        ],
    ),
)
def test_what_moves_between_look_and_click_is_never_clicked_in_its_place(
    browser: ExtensionBrowser, tab: Page, site: Site, body: str
) -> None:
    panel = shown(browser, tab, site, body)

    status = panel.reach('Click "Keep"')
    assert tab.evaluate("window.wrong") == []
    # Where its place is taken for longer the task asks its user, and has done nothing.
    assert (status, tab.locator("#said").inner_text()) in {("Done", "Kept"), ("Waits for you", "")}


def test_what_a_page_does_to_its_own_world_changes_nothing(browser: ExtensionBrowser, tab: Page, site: Site) -> None:
    panel = shown(browser, tab, site, pages.PROTOTYPES)

    assert panel.reach('Enter "tea" into "Word", click "Keep"') == "Done"
    assert tab.evaluate("[wrong.length, used.length, said.textContent]") == [0, 0, "Kept tea"]


def test_words_of_pages_and_models_are_never_more_than_words(browser: ExtensionBrowser, tab: Page, site: Site) -> None:
    """A public list and our own stand in every text that a page, a model or a gateway can write into the panel."""
    vectors = [*public_vectors(), *list(own_vectors())[:: sized(8, 1)]]
    whole = "\n".join(vectors)
    panel = shown(browser, tab, site, "<main><h1>Names</h1><button>Go</button></main>")
    state = {
        "status": "permission",
        "note": whole,
        "task": {"query": whole, "id": "x", "phase": "act", "origin": whole},
        "plan": {"steps": [{"description": one, "status": one} for one in vectors], "currentStepIndex": 0},
        "turns": [{"thought": one, "action": one, "observation": one, "status": one} for one in vectors]
        + [{"user": one} for one in vectors]
        + [{"thought": one, "end": one} for one in vectors],
        "messages": [{"messageId": one, "role": one, "content": one, "actionString": one} for one in vectors],
        "question": {"text": whole, "options": vectors},
    }
    kept = {**browser.state(panel.tab), "tab": panel.tab, "session": str(uuid.uuid4()), "push": "off", **state}
    paired = browser.worker.evaluate("chrome.storage.local.get(null)")
    browser.worker.evaluate("(name) => chrome.storage.local.set({ name })", whole)
    browser.worker.evaluate("([tab, kept]) => chrome.storage.session.set({ [`tab:${tab}`]: kept })", [panel.tab, kept])
    panel.page.reload()
    expect(panel.page.locator("#log > li")).to_have_count(3 * len(vectors), timeout=WAIT_MS)
    browser.worker.evaluate(pages.REFUSING, whole)
    panel.page.evaluate(pages.PAIR_AGAIN)
    expect(panel.page.locator("#settings-note")).to_contain_text("<script>", timeout=WAIT_MS)
    browser.worker.evaluate(
        "(kept) => { globalThis.fetch = globalThis.fetched; return chrome.storage.local.set(kept) }", paired
    )

    assert panel.page.evaluate("[window.ran ?? 0, document.scripts.length]") == [0, 1]
    assert set(panel.page.evaluate(pages.MARKUP)) <= DRAWN
    assert panel.page.locator("#options button").count() == len(vectors)
    assert panel.page.locator("#plan > li").count() == len(vectors)
    for text in ("#note", "#question-text", "#allow-site", "#paired"):
        assert "<script>" in (panel.page.locator(text).text_content() or "")


DRAWN: Final = frozenset(["button", "code", "details", "li", "ol", "p", "script", "span", "summary"])
"""What the panel is drawn of, beside what stands in its file."""


def test_a_question_is_answered_by_keys_in_a_panel_for_everybody(
    browser: ExtensionBrowser, tab: Page, site: Site
) -> None:
    """With axe-core, in light and dark, at 320 pixels."""
    panel, found = shown(browser, tab, site, pages.ROOMS), dict[str, list[str]]()
    found["empty"] = look_at(panel.page)
    panel.page.locator("#settings-button").press("Enter")
    found["settings"] = look_at(panel.page)
    panel.page.locator("#settings-button").press("Enter")
    assert panel.reach('Click "Book"') == "Waits for you"
    assert panel.page.locator("#options button").all_inner_texts() == ["Book: Blue room", "Book: Red room"]
    found["question"] = look_at(panel.page)
    panel.answer("Book for the Red room")
    assert panel.ended() == "Done"
    found["done"] = look_at(panel.page)

    assert tab.locator("#said").inner_text() == "Red"
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def look_at(page: Page) -> list[str]:
    """Return what axe-core finds wrong in light and in dark, at 320 pixels."""
    found = list[str]()
    page.set_viewport_size({"width": NARROW, "height": 900})
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found += page.evaluate(pages.AXE, axe_source())
    if page.evaluate("document.documentElement.scrollWidth") > NARROW:
        found.append("wider than the window")
    return found


@pytest.mark.full
def test_a_task_goes_on_after_its_worker_was_put_to_sleep_and_the_network_was_gone(
    browser: ExtensionBrowser, tab: Page, site: Site, relay: Relay
) -> None:
    begun = len(site.asked)
    tab.context.clear_cookies()
    tab.goto(site.url(f"/shop?{next(_numbers)}"))
    panel = browser.panel(tab)
    relay.asked_while_cut.clear()
    relay.cut.set()
    panel.begin(f'{LOGIN}, search for "lamp"')
    assert relay.asked_while_cut.wait(WAIT_MS / 1_000)
    expect(panel.page.locator("#note")).to_contain_text("Waiting for Weft", timeout=WAIT_MS)
    put_to_sleep(panel)
    relay.cut.clear()

    assert panel.ended() == "Done"
    expect(tab.locator("h1")).to_have_text("Results")
    assert shop_changes(site.asked[begun:]) == {f"/shop/login user=ann&password={PASSWORD}": 1}
    session = browser.state(panel.tab)["session"]
    firsts = [body for body in relay.rounds if body["sessionId"] == session and "taskId" not in body]
    assert len(firsts) > 1
    assert all(one == firsts[0] for one in firsts)


@pytest.mark.full
def test_an_hour_without_the_gateway_costs_time_and_no_message(
    browser: ExtensionBrowser, tab: Page, site: Site, relay: Relay, weft: System
) -> None:
    """The clock of the worker runs 600 times as fast, so that the hour takes some seconds."""
    panel = shown(browser, tab, site, pages.ROOMS)
    assert panel.reach('Click "Book" for the Red room') == "Done"
    expect(panel.page.locator("body")).to_have_attribute("data-push", "on", timeout=WAIT_MS)
    session = browser.state(panel.tab)["session"]
    before = panel.page.locator("#messages > li").count()
    key = browser.worker.evaluate("chrome.storage.local.get('key').then(({ key }) => key)")

    browser.worker.evaluate(pages.HURRY, 600)
    relay.gone.set()
    expect(panel.page.locator("body")).to_have_attribute("data-push", "off", timeout=WAIT_MS)
    for number in range(3):
        body = {"sessionId": session, "query": f"Wait {number} s", "url": "https://a.example/", "interactiveTree": TREE}
        answer = weft.http.post("/api/agent/interact", json=body, headers={"Authorization": f"Bearer {key}"})
        assert answer.status_code == 200, answer.text
    while sum(waits := browser.worker.evaluate("globalThis.polls")) < HOUR_MS:
        panel.page.wait_for_timeout(100)  # the test has its time
    alone = panel.page.locator("#messages > li").count()
    relay.gone.clear()
    expect(panel.page.locator("body")).to_have_attribute("data-push", "on", timeout=WAIT_MS)
    headers = {"Authorization": f"Bearer {key}"}
    kept = weft.http.get(f"/api/session/{session}/messages", headers=headers).json()["messages"]
    expect(panel.page.locator("#messages > li")).to_have_count(len(kept), timeout=WAIT_MS)
    browser.worker.evaluate("globalThis.setTimeout = globalThis.realTimeout")

    from_the_cut = waits[waits.index(POLLS_MS[0]) :]
    assert from_the_cut == [*POLLS_MS, *[POLLS_MS[-1]] * (len(from_the_cut) - len(POLLS_MS))]
    assert alone == before < len(kept)
    assert [one["messageId"] for one in browser.state(panel.tab)["messages"]] == [one["messageId"] for one in kept]


HOUR_MS: Final = 3_600_000
POLLS_MS: Final = [3_000, 10_000, 30_000, 60_000]
TREE: Final = [{"i": "6", "r": "btn", "n": "Search"}]


def put_to_sleep(panel: Panel) -> None:
    """Have the browser end the worker of the extension, as it does when nothing happens for a while."""
    session: Any = panel.page.context.new_cdp_session(panel.page)
    session.send("ServiceWorker.enable")
    session.send("ServiceWorker.stopAllWorkers")
    session.detach()


@pytest.mark.full
def test_a_site_is_asked_for_when_a_task_comes_to_it_and_is_let_go_again(
    browser: ExtensionBrowser, tab: Page, site: Site
) -> None:
    """Nobody can press the dialog of the browser here: its owner has said yes beforehand, in its own settings."""
    panel = shown(browser, tab, site, pages.ROOMS)
    elsewhere = site.url(made_page(pages.ROOMS)).replace("127.0.0.1", "localhost")
    assert panel.reach(f'Go to {elsewhere}, click "Book" for the Red room') == "Waits for you"
    assert browser.origins == []

    with browser.approved("http://localhost/*"):
        panel.page.get_by_role("button", name="Allow localhost").press("Enter")
        expect(panel.page.locator("#status")).to_have_text("Done", timeout=WAIT_MS)
        assert tab.locator("#said").inner_text() == "Red"
        assert browser.origins == ["http://localhost/*"]
    assert browser.origins == []


@pytest.mark.full
@requirement("001.2.sessions")
def test_each_tab_has_a_session_of_its_own_that_other_sites_do_not_change_and_other_pages_are_left_alone(
    browser: ExtensionBrowser, tab: Page, site: Site
) -> None:
    idle = browser.context.new_page()
    idle.goto(site.url(made_page("<button>Nobody asked</button>")))
    others = [browser.context.new_page() for _ in range(2)]
    tabs = [tab, *others]
    panels = [shown(browser, page, site, f"<p>{number}</p>{pages.ROOMS}") for number, page in enumerate(tabs)]
    for panel, room in zip(panels, ("Blue", "Red", "Blue"), strict=True):
        panel.begin(f'Click "Book" for the {room} room')

    assert [panel.ended() for panel in panels] == ["Done"] * 3
    assert [page.locator("#said").inner_text() for page in tabs] == ["Blue", "Red", "Blue"]
    sessions = [browser.state(panel.tab)["session"] for panel in panels]
    assert len(set(sessions)) == 3
    elsewhere = site.url(made_page(pages.ROOMS)).replace("127.0.0.1", "localhost")
    tab.bring_to_front()
    panels[0].page.bring_to_front()
    assert panels[0].reach(f'Go to {elsewhere}, click "Book" for the Red room') == "Waits for you"
    expect(panels[0].page.get_by_role("button", name="Allow localhost")).to_be_visible(timeout=WAIT_MS)
    browser.press_button(tab)
    expect(panels[0].page.locator("#status")).to_have_text("Done", timeout=WAIT_MS)
    assert (tab.locator("#said").inner_text(), browser.state(panels[0].tab)["session"]) == ("Red", sessions[0])
    assert idle.locator(f"{MARK}, [data-llm-id]").count() == 0
    for page in (idle, *others):
        page.close()


@pytest.mark.full
def test_a_whole_order_is_placed_once_whoever_dies(
    browser: ExtensionBrowser, tab: Page, site: Site, weft: System
) -> None:
    tab.context.clear_cookies()
    tab.goto(site.url(f"/shop?{next(_numbers)}"))
    panel, begun, killed = browser.panel(tab), len(site.asked), list[str]()
    panel.begin(GOAL)
    for steps, actor in DEATHS.items():
        expect(panel.page.locator("#log code").nth(steps)).to_be_visible(timeout=WAIT_MS)
        pids = [int(str(one["pid"])) for one in weft.replicas() if one["actor"] == actor]
        os.kill(pids[0], signal.SIGKILL)
        killed.append(actor)

    assert panel.ended() == "Done"
    assert ORDERED in tab.inner_text("main")
    assert shop_changes(site.asked[begun:]) == ONCE
    assert killed == list(DEATHS.values())


DEATHS: Final = {2: "planner", 5: "gateway", 9: "planner"}
"""Who is killed once so many steps stand in the panel."""


MINIWOB: Final = (
    *("click-button", "click-checkboxes-large", "click-collapsible-2", "click-dialog-2", "click-menu-2", "click-pie"),
    *("click-scroll-list", "click-shape", "click-tab-2-hard", "drag-items-grid", "drag-sort-numbers", "draw-line"),
    *("email-inbox-star-reply", "enter-date", "enter-password", "enter-time", "find-midpoint", "form-sequence"),
    *("grid-coordinate", "login-user-popup", "navigate-tree", "read-table-2", "use-autocomplete", "use-slider-2"),
    "use-spinner",
)
"""Tasks of all kinds that rules solve, without any model."""


@pytest.mark.full
@pytest.mark.parametrize("task", MINIWOB)
def test_a_task_of_miniwob_is_solved_through_the_panel(
    browser: ExtensionBrowser, tab: Page, wob: MiniWob, task: str
) -> None:
    episode = wob.episode(task, 11)
    tab.goto(episode.url)
    panel = browser.panel(tab)
    tab.bring_to_front()

    # Where a page does not show that it is done, its user is asked; the page itself knows.
    assert panel.reach(episode.goal()) in {"Done", "Waits for you"}
    assert episode.solved


@pytest.fixture(scope="module")
def wob() -> Generator[MiniWob]:
    """Serve the pages of MiniWoB++."""
    with miniwob() as serving:
        yield serving


def test_what_stands_in_a_frame_is_acted_on_there(browser: ExtensionBrowser, tab: Page, site: Site) -> None:
    inner = site.url(made_page(pages.ROOMS))
    panel = shown(browser, tab, site, f'<h1>Outer</h1><iframe width=500 height=300 src="{inner}"></iframe>')

    assert panel.reach('Click "Book" for the Red room') == "Done"
    assert tab.frame_locator("iframe").locator("#said").inner_text() == "Red"
