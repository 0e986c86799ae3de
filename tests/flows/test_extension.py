"""The browser extension in a real Chromium against a real Weft: paired, used by its keys, stopped, tricked and cut off."""

from __future__ import annotations

import base64
import io
import json
import os
import signal
import uuid
from collections.abc import Generator
from itertools import count
from typing import Final, Literal

import pytest
from PIL import Image
from playwright.sync_api import Page, Playwright, expect, sync_playwright

from tests.extension import axe_source
from tests.extension.relay import Relay, relay_to
from tests.flows.system import System, weft_up
from tests.flows.test_interact import GOAL, ONCE
from tests.integration.playwright.markup import page as made_page
from tests.requirements import requirement
from tests.site import Site
from tests.site.shop import ORDERED, PASSWORD, shop_changes
from tests.site.vectors import own_vectors
from tests.support.extension import CHROMIUM, PANEL, WAIT_MS, ExtensionBrowser, Panel, extension_browser

pytestmark = [
    pytest.mark.nats,
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(CHROMIUM is None, reason="the shell of Chromium has no extensions, and a whole one is missing"),
]

ACTORS: Final = "gateway=2,planner=2,verifier,policy,keeper"
LOGIN: Final = f'Enter "ann" into "User name", enter "{PASSWORD}" as password, click "Log in"'
_numbers = count()


@pytest.fixture(scope="module")
def weft(tmp_path_factory: pytest.TempPathFactory) -> Generator[System]:
    """Run a Weft with two of those who answer clients, and as many rounds as they like."""
    with weft_up(tmp_path_factory.mktemp("weft"), "--actors", ACTORS, WEFT_INTERACT_PER_MINUTE="0") as system:
        yield system


@pytest.fixture(scope="module")
def relay(weft: System) -> Generator[Relay]:
    """Stand before that Weft, and keep what is sent to it."""
    with relay_to(weft.ready.rest) as relay:
        yield relay


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
        panel.pair(pairing_link(weft).replace(weft.ready.rest, relay.url))
        panel.page.close()
        yield opened


@pytest.fixture
def tab(browser: ExtensionBrowser) -> Generator[Page]:
    """Open a tab of its own for a test."""
    page = browser.context.new_page()
    yield page
    page.close()


def pairing_link(weft: System) -> str:
    """Ask for a link that pairs."""
    link = weft.run("extension", "--pair").stdout.strip()
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
    state = browser.state(panel.tab)
    assert (state["status"], state["task"]["body"]) == ("done", None)
    assert tab.locator("weft-mark").count() == 0


def test_one_click_on_the_page_of_the_gateway_pairs_once_and_nobody_else_gets_a_key(
    weft: System, playwright: Playwright, tmp_path_factory: pytest.TempPathFactory, site: Site
) -> None:
    link = pairing_link(weft)
    with extension_browser(playwright, tmp_path_factory.mktemp("pairing")) as opened:
        page = opened.context.pages[0]
        page.goto(site.url(made_page("<p>A stranger's page</p>")))
        told = page.evaluate(STRANGER, [EXTENSION, link])
        page.goto(link)
        assert page.url.endswith("/pair")
        policy = (page.reload() or pytest.fail()).headers["content-security-policy"]
        page.goto("about:blank")
        page.goto(link)
        page.get_by_role("button", name="Pair").press("Enter")
        expect(page.get_by_role("status")).to_contain_text("Paired.", timeout=WAIT_MS)
        kept = opened.worker.evaluate("chrome.storage.local.get(null)")
        page.goto("about:blank")
        page.goto(link)
        page.get_by_role("button", name="Pair").press("Enter")
        expect(page.get_by_role("status")).to_contain_text("used up", timeout=WAIT_MS)

    assert "frame-ancestors 'none'" in policy
    assert "default-src 'none'" in policy
    assert told == ["This page does not pair.", "no answer", "refused"]
    keys = {one["name"]: one["scopes"] for one in weft.http.get("/api/keys").json()["keys"]}
    assert (kept["gateway"], keys[kept["name"]]) == (weft.ready.rest, ["browser"])
    assert not any("pair" in scopes for name, scopes in keys.items() if name == kept["name"])
    revoked = weft.run("keys", "revoke", kept["name"])
    assert revoked.returncode == 0
    refused = weft.http.get("/api/session", headers={"Authorization": f"Bearer {kept['key']}"})
    assert refused.status_code == 401


STRANGER: Final = """async ([id, link]) => {
  const [gateway, code] = link.split('/pair#');
  const ask = (message) => new Promise((done) => chrome.runtime.sendMessage(id, message, (answer) => {
    void chrome.runtime.lastError;
    done(answer?.error ?? answer?.name ?? 'no answer');
  }));
  const connect = () => new Promise((done) => {
    const port = chrome.runtime.connect(id, { name: 'panel' });
    port.onDisconnect.addListener(() => { void chrome.runtime.lastError; done('no answer'); });
    port.onMessage.addListener(() => done('heard'));
  });
  const fetched = await fetch(`${gateway}/api/pair`, { method: 'POST', headers: { authorization: `Bearer ${code}` } })
    .then((answer) => `status ${answer.status}`, () => 'refused');
  return [await ask({ type: 'pair', code }), await connect(), fetched];
}"""
EXTENSION: Final = PANEL.split("/")[2]

ROWS: Final = """<main><h1>Rooms</h1><table><tr><td>Blue room</td><td><button onclick="done.textContent='Blue'">Book</button>
</td></tr><tr><td>Red room</td><td><button onclick="done.textContent='Red'">Book</button></td></tr></table>
<p role=status id=done></p></main>"""


def test_a_question_with_options_is_answered_by_keys(browser: ExtensionBrowser, tab: Page, site: Site) -> None:
    panel = shown(browser, tab, site, ROWS)

    assert panel.reach('Click "Book"') == "Waits for you"
    expect(panel.page.locator("#answer")).to_be_focused()
    panel.page.locator("#answer").press_sequentially("Book for the Red room")
    panel.page.keyboard.press("Enter")
    assert panel.ended() == "Done"
    assert tab.locator("#done").inner_text() == "Red"


SECRETS: Final = ("tulip-88-word", "4111111111111111", "917733", "csrf-5512")
PAINTED: Final = f"""<main><h1>Paint</h1><svg width=60 height=60><circle cx=30 cy=30 r=25 fill=blue onclick="hit.textContent='b'"/>
</svg><label>Password <input type=password value={SECRETS[0]}></label><label>Card <input autocomplete=cc-number value={SECRETS[1]}></label>
<label>One-time code <input autocomplete=one-time-code value={SECRETS[2]}></label><input type=hidden name=t value={SECRETS[3]}>
<p id=hit role=status></p></main>"""


@requirement("001.5.hybrid")
def test_more_of_the_page_is_sent_where_it_is_asked_for_and_no_secret_goes_along(
    browser: ExtensionBrowser, tab: Page, site: Site, relay: Relay
) -> None:
    panel = shown(browser, tab, site, PAINTED)
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
    box = tab.locator("input[type=password]").bounding_box()
    assert box is not None
    scale = image.width / tab.evaluate("innerWidth")
    pixel = image.convert("L").getpixel((int((box["x"] + 20) * scale), int((box["y"] + 8) * scale)))
    assert isinstance(pixel, int) and pixel < 40
    assert next(one["dom"] for one in rounds if one.get("dom")).startswith("<html")
    assert "dom" not in rounds[0]
    sent = json.dumps([{name: value for name, value in one.items() if "rl" not in name} for one in rounds])
    assert [one for one in SECRETS if one in sent] == []


def test_escape_on_the_page_stops_at_once_and_made_up_keys_do_not(
    browser: ExtensionBrowser, tab: Page, site: Site
) -> None:
    body = "<main><h1>Slow</h1><button onclick='hits.textContent += 1'>Later</button><p id=hits></p></main>"
    panel = shown(browser, tab, site, body)
    panel.begin('Wait 20 seconds, then click "Later"')
    expect(tab.locator("weft-mark")).to_have_count(1, timeout=WAIT_MS)
    expect(panel.page.locator("#log code")).to_have_count(1, timeout=WAIT_MS)

    tab.evaluate("dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))")
    tab.evaluate("document.querySelector('weft-mark').shadowRoot === null || document.querySelector('weft-mark').remove()")
    assert panel.page.locator("#status").inner_text() == "At work"
    tab.bring_to_front()
    tab.keyboard.press("Escape")
    assert panel.ended() == "Stopped"
    expect(tab.locator("weft-mark")).to_have_count(0)
    assert tab.locator("#hits").inner_text() == ""


MOVED: Final = """<main><h1>Moves</h1><p id=box><button id=one>Keep</button> <button id=two>Delete all</button></p><p role=status id=said></p></main>
<script>
const wrong = window.wrong = [];
for (const button of [one, two]) button.addEventListener('click', () => {
  if (button.textContent === 'Keep') said.textContent = 'Kept';
  else wrong.push(button.textContent);
});
let turns = 0;
function swap() { if (turns++ < TURNS) [one.textContent, two.textContent] = [two.textContent, one.textContent]; }
new MutationObserver((records) => { if (records.some((one) => one.target.dataset.llmId)) WHEN; }).observe(box, { subtree: true, attributes: true, attributeFilter: ['data-llm-id'] });
addEventListener('mousedown', () => { if (ON_PRESS) swap(); }, true);
</script>"""
COVERED: Final = """<main><h1>Covers</h1><p id=box><button id=one>Keep</button></p><p role=status id=said></p></main>
<script>
const wrong = window.wrong = [];
one.addEventListener('click', () => { said.textContent = 'Kept'; });
let turns = 0;
new MutationObserver(() => {
  if (turns++) return;
  const trap = document.createElement('div');
  trap.style.cssText = 'position:fixed;inset:0;opacity:0;z-index:2147483647';
  trap.addEventListener('click', () => wrong.push('trap'));
  document.body.append(trap);
  setTimeout(() => trap.remove(), 1500);
}).observe(box, { subtree: true, attributes: true, attributeFilter: ['data-llm-id'] });
</script>"""
PROTOTYPES: Final = """<main><h1>Prototypes</h1><label>Word <input id=word></label><button id=one>Keep</button><p role=status id=said></p></main>
<div style="position:fixed;top:0;right:0" role=dialog aria-label="Weft"><button onclick="wrong.push('fake')">Stop (Esc)</button></div>
<script>
const wrong = window.wrong = [], used = window.used = [];
one.addEventListener('click', () => { said.textContent = 'Kept ' + word.value; });
for (const [type, names] of [[EventTarget, ['dispatchEvent']], [HTMLElement, ['click', 'focus']], [Document, ['querySelectorAll', 'elementFromPoint', 'execCommand']],
  [Element, ['getBoundingClientRect', 'querySelector', 'matches', 'getAttribute', 'setAttribute', 'attachShadow']], [Array, ['map', 'filter', 'sort']]])
  for (const name of names) type.prototype[name] = function () { used[used.length] = name; return null; };
window.weft = window.weftHands = { call() { used[used.length] = 'call'; } };
</script>"""


def moved(turns: int, *, on_press: bool) -> str:
    """Return a page whose buttons change places: when they are looked at, or under the mouse."""
    when = "" if on_press else "setTimeout(swap, 0)"
    return MOVED.replace("TURNS", str(turns)).replace("WHEN", when).replace("ON_PRESS", str(on_press).lower())


@pytest.mark.parametrize(
    "body",
    [moved(1, on_press=False), moved(2, on_press=False), moved(1, on_press=True), COVERED],
    ids=["moved once", "moved twice", "moved under the mouse", "covered"],
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
    panel = shown(browser, tab, site, PROTOTYPES)

    assert panel.reach('Enter "tea" into "Word", click "Keep"') == "Done"
    assert tab.evaluate("[wrong.length, used.length, said.textContent]") == [0, 0, "Kept tea"]


def test_words_of_pages_and_models_are_never_more_than_words(
    browser: ExtensionBrowser, tab: Page, site: Site
) -> None:
    """The corpus stands in every text of a session; then a page with such names is acted on."""
    vectors = list(own_vectors())
    panel = shown(browser, tab, site, "<main><h1>Names</h1><button>Go</button></main>")
    state = {
        "status": "asking",
        "note": vectors[0],
        "task": {"query": vectors[1], "id": "x", "phase": "act"},
        "plan": {"steps": [{"description": one, "status": "pending"} for one in vectors], "currentStepIndex": 0},
        "turns": [
            {"thought": one, "action": one, "observation": one, "status": one} for one in vectors
        ] + [{"user": one} for one in vectors] + [{"thought": one, "end": "done"} for one in vectors],
        "messages": [{"messageId": one, "role": one, "content": one, "actionString": one} for one in vectors],
        "question": {"text": vectors[2], "options": vectors},
    }
    kept = {**browser.state(panel.tab), "tab": panel.tab, "session": str(uuid.uuid4()), "push": "off", **state}
    browser.worker.evaluate("([tab, kept]) => chrome.storage.session.set({ [`tab:${tab}`]: kept })", [panel.tab, kept])
    panel.page.reload()
    expect(panel.page.locator("#log > li")).to_have_count(3 * len(vectors), timeout=WAIT_MS)

    counted = panel.page.evaluate(
        "() => [window.ran ?? 0, document.querySelectorAll('img, svg, iframe, object, embed, style, math, video').length, document.scripts.length]"
    )
    assert counted == [0, 0, 1]
    assert panel.page.locator("#options button").count() == len(vectors)


AXE: Final = """async (source) => {
  if (!globalThis.axe) globalThis.eval(source);
  const { violations } = await axe.run(document);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((one) => one.target).join(' ')}`);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_panel_is_for_everybody_in_light_and_dark_and_narrow(
    browser: ExtensionBrowser, tab: Page, site: Site, scheme: Literal["light", "dark"]
) -> None:
    panel = shown(browser, tab, site, ROWS)
    panel.page.emulate_media(color_scheme=scheme)
    panel.page.set_viewport_size({"width": 320, "height": 900})
    found = {"empty": look_at(panel)}
    panel.page.locator("#settings-button").press("Enter")
    found["settings"] = look_at(panel)
    panel.page.locator("#settings-button").press("Enter")
    panel.reach('Click "Book"')
    found["question"] = look_at(panel)
    panel.page.locator("#answer").press_sequentially("Book for the Red room")
    panel.page.keyboard.press("Enter")
    panel.ended()
    found["done"] = look_at(panel)

    assert found == dict.fromkeys(found, [])
    assert panel.page.evaluate("document.documentElement.scrollWidth") <= 320


def look_at(panel: Panel) -> list[str]:
    """Return what axe-core finds wrong; a picture is kept where one is asked for."""
    if folder := os.environ.get("WEFT_TEST_PICTURES"):
        panel.page.screenshot(path=f"{folder}/panel-{next(_numbers)}.png")
    found: list[str] = panel.page.evaluate(AXE, axe_source())
    return found
