"""The tools of a browser as the gate has them run: what an element is, that it is still the same, and 003's codes."""

from __future__ import annotations

import secrets
from collections.abc import Generator
from typing import Any

import anyio
import msgspec
import pytest
from msgspec import UNSET

from protocol.acting.tree import AskTree, PageTree
from protocol.browsers.operations import ListTabs
from protocol.browsers.results import Tabs
from protocol.documents import Origin, Signal, WebObservationSummary
from protocol.faults import Code, FaultError
from protocol.policy import AskField, FieldFacts, RunTool, ToolErrorCode, ToolResult, ToolStatus
from protocol.tools.browser import BROWSER_TOOLS, ObservePage, element_of
from protocol.tools.tool import Surface
from tests.integration.playwright.browsing import Browsing
from tests.integration.playwright.driving import Driving, driving, site_and_browser
from tests.requirements import requirement
from tests.support.scale import first

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

LIMIT_S = 240.0

SIGN_IN = """<h2>Sign in</h2><form action="/go/in"><label for=u>User name</label><input id=u name=user>
<label>Password <input id=p name=secret type=text autocomplete=off></label><button id=s>Continue</button></form>
<a id=l href="/faq">Help</a>"""


@pytest.fixture(scope="module")
def web() -> Generator[Browsing]:
    with site_and_browser() as running:
        yield running


@pytest.fixture(scope="module")
def it(web: Browsing) -> Generator[Driving]:
    with driving(web) as driven:
        yield driven


def facts(it: Driving, element_id: str | None) -> FieldFacts:
    async def ask() -> FieldFacts:
        with anyio.fail_after(LIMIT_S):
            return await it.web.actor.describe_field(
                AskField(caller="driver", session=it.session, element_id=element_id)
            )

    return it.web.portal.call(ask)


def run(it: Driving, name: str, expects: str = "", call: str = "", **arguments: Any) -> ToolResult:
    async def ask() -> ToolResult:
        request = RunTool(
            id=call or f"call_{secrets.token_urlsafe(16)}",
            name=name,
            arguments=arguments,
            caller="driver",
            session=arguments.pop("session", it.session),
            tab=arguments.pop("tab", None),
            expects=expects,
        )
        with anyio.fail_after(LIMIT_S):
            return await it.web.actor.run_tool(request)

    return it.web.portal.call(ask)


def test_facts_say_what_an_element_is(it: Driving) -> None:
    it.show(SIGN_IN)
    password, button, link = (facts(it, it.id_of(query)) for query in ("css=#p", "css=#s", "css=#l"))

    assert (password.tag, password.type, password.name, password.label) == ("input", "text", "secret", "Password")
    assert password.heading == "Sign in"
    assert any("user" in one and "User name" in one for one in password.form_fields)
    assert button.target.endswith("/go/in")
    assert link.target.endswith("/faq")
    assert len({password.digest, button.digest, link.digest}) == 3


def test_labels_that_are_shown_count_beside_what_attributes_say(it: Driving) -> None:
    it.show(
        '<label for=f>Card number</label><input id=f aria-label="Search the shop" style="-webkit-text-security:disc">'
    )
    field = facts(it, it.id_of("css=#f"))

    assert "Search the shop" in field.label
    assert "Card number" in field.label
    assert field.type == "password"


def test_what_has_the_focus_is_told_without_an_id(it: Driving) -> None:
    it.show(
        '<iframe srcdoc="<label>PIN <input id=i></label>" width=300 height=80></iframe><input id=o aria-label=Outer>'
    )
    it.js("document.querySelector('iframe').contentDocument.getElementById('i').focus()")

    assert facts(it, None).label == "PIN"


@pytest.mark.parametrize(
    "change",
    first(
        2,
        [
            "p.type = 'password'",
            "p.form.action = 'https://elsewhere.test/'",
            "p.labels[0].firstChild.data = 'Card number '",
            "p.name = 'other'",
            "p.setAttribute('autocomplete', 'cc-number')",
        ],
    ),
)
def test_nothing_is_typed_into_a_field_that_is_another_by_now(it: Driving, change: str) -> None:
    it.show(SIGN_IN)
    element_id = it.id_of("css=#p")
    digest = facts(it, element_id).digest
    it.js(change)
    result = run(it, "type_text", digest, element_id=element_id, text="swordfish")

    assert (result.status, result.code) == (ToolStatus.ERROR, ToolErrorCode.STALE_HANDLE)
    assert it.js("document.getElementById('p').value") == ""


def test_a_field_that_changes_when_it_gets_the_focus_gets_nothing(it: Driving) -> None:
    it.show(SIGN_IN + "<script>p.addEventListener('focus', () => { p.type = 'password' })</script>")
    element_id = it.id_of("css=#p")
    result = run(it, "type_text", facts(it, element_id).digest, element_id=element_id, text="swordfish")

    assert result.code is ToolErrorCode.STALE_HANDLE
    assert it.js("document.getElementById('p').value") == ""


def test_a_field_that_is_the_same_is_filled(it: Driving) -> None:
    it.show(SIGN_IN)
    element_id = it.id_of("css=#p")
    result = run(it, "type_text", facts(it, element_id).digest, element_id=element_id, text="swordfish")

    assert result.status is ToolStatus.OK
    assert it.js("document.getElementById('p').value") == "swordfish"


def test_a_form_that_is_moved_at_the_last_moment_is_not_sent(it: Driving) -> None:
    it.show(SIGN_IN + "<script>s.addEventListener('mousedown', () => { s.form.action = '/elsewhere' })</script>")
    element_id = it.id_of("css=#s")
    result = run(it, "click", facts(it, element_id).digest, element_id=element_id)

    assert result.code is ToolErrorCode.STALE_HANDLE
    assert "/asked" in it.js("location.pathname")


def test_a_call_that_comes_twice_clicks_once(it: Driving) -> None:
    it.show("<button id=b onclick='window.count = (window.count ?? 0) + 1'>More</button>")
    element_id = it.id_of("css=#b")
    call = f"call_{secrets.token_urlsafe(16)}"
    first, second = (run(it, "click", call=call, element_id=element_id) for _ in range(2))

    assert first == second
    assert it.js("window.count") == 1


BROKEN = """<button id=off disabled>Off</button><div style="position:relative"><button id=under>Under</button>
<div style="position:absolute;inset:0;background:#eee">Cover</div></div><button id=gone>Gone</button>
<select id=s aria-label=List><option>One</option></select><button id=hidden>Hidden</button>"""


@requirement("003.tools.browser")
def test_the_codes_of_elements(it: Driving) -> None:
    it.show(BROKEN)
    ids = {name: it.id_of(f"css=#{name}") for name in ("off", "under", "gone", "s", "hidden")}
    it.js("document.getElementById('gone').remove(); document.getElementById('hidden').style.visibility = 'hidden'")

    assert run(it, "click", element_id=ids["off"]).code is ToolErrorCode.DISABLED
    assert run(it, "click", element_id=ids["under"]).code is ToolErrorCode.BLOCKED_BY_OVERLAY
    assert run(it, "click", element_id=ids["gone"]).code is ToolErrorCode.STALE_HANDLE
    assert run(it, "click", element_id=ids["hidden"]).code is ToolErrorCode.NOT_INTERACTABLE
    assert run(it, "select_option", element_id=ids["s"], value="Two").code is ToolErrorCode.NOT_FOUND


def test_the_codes_of_tabs_and_addresses(it: Driving) -> None:
    it.show("<p>Here")
    elsewhere = f"sess_{secrets.token_urlsafe(16)}"

    assert run(it, "click", session=None, element_id="x").code is ToolErrorCode.NO_ACTIVE_TAB
    assert run(it, "click", session=elsewhere, element_id="x").code is ToolErrorCode.NO_ACTIVE_TAB
    assert run(it, "refresh", tab=99).code is ToolErrorCode.NO_TARGET_TAB
    assert run(it, "go_forward").code is ToolErrorCode.FORWARD_FAILED
    assert run(it, "navigate", url="http://").code is ToolErrorCode.INVALID_URL
    assert run(it, "navigate", url=" ").code is ToolErrorCode.MISSING_URL
    assert run(it, "navigate", url="http://nowhere.invalid/").code is ToolErrorCode.NAVIGATION_FAILED
    assert run(it, "create_tab", url="http://nowhere.invalid/").code is ToolErrorCode.OPEN_TAB_FAILED


@requirement("003.tools.browser")
def test_going_forth_and_back_and_there_again(it: Driving) -> None:
    it.show("<p>One", first=1)
    it.show("<p>Two", second=1)
    back, forward, again = (run(it, name) for name in ("go_back", "go_forward", "refresh"))
    scrolled = run(it, "scroll_by", deltaY=120.0)

    assert [one.status for one in (back, forward, again, scrolled)] == [ToolStatus.OK] * 4
    assert "second=1" in again.payload["page"]["url"]
    assert it.do(ListTabs(), Tabs).tabs


def test_links_of_what_is_selected(it: Driving) -> None:
    it.show('<p id=p>See <a href="/faq">the answers</a>.</p><a href="/account">Account</a>')
    it.js("getSelection().selectAllChildren(document.getElementById('p'))")
    result = run(it, "get_selection_links")

    assert [link["text"] for link in result.payload["links"]] == ["the answers"]


def feed(count: int) -> str:
    rows = "".join(
        f'<li class=row><a href="/n{n}">Story {n} of the day</a> and why it matters to many</li>' for n in range(count)
    )
    return f"<nav><a href=/>Home</a></nav><h1>News</h1><ul class=stories>{rows}</ul>"


@requirement("003.tools.browser")
def test_a_page_is_observed_within_limits(it: Driving) -> None:
    it.show(feed(40))
    whole, short = run(it, "observe_dom"), run(it, "observe_dom", maxItems=3, maxElements=2, maxChars=100)
    first = whole.payload["elements"][0]["handleId"]

    assert whole.payload["archetype"] == "feed"
    assert len(whole.payload["items"]) == 30
    assert whole.payload["outline"][0]["text"] == "News"
    assert whole.payload["truncated"]
    assert len(short.payload["items"]) == 3
    assert len(short.payload["elements"]) == 2
    assert len(short.payload["text"]) <= 100
    assert whole.documents[0].trust.value == "untrusted"
    assert run(it, "click", element_id=element_of(first)).status is ToolStatus.OK


PROSE = "<p>" + "The valley is quiet in the morning, and the river takes its time on the way to the sea. " * 8 + "</p>"
ROWS = "".join(f"<tr><td>{n}</td><td>{n * n}</td></tr>" for n in range(20))
SAID = "".join(
    f'<div class="comment"><b>user{n}</b> I have seen that too, and it went away by itself.</div>' for n in range(6)
)
PRODUCT = (
    """<script type="application/ld+json">{"@type": "Product", "name": "Kettle"}</script><h1>Kettle</h1><p>49.00</p>"""
)


@pytest.mark.parametrize(
    ("html", "archetype"),
    [
        (f"<h1>The valley</h1><article>{PROSE}</article>", "article"),
        (f"<h1>Squares</h1><table>{ROWS}</table>", "table"),
        (f'<h1>Why?</h1><p>My door sticks.</p><div class="comments">{SAID}</div>', "thread"),
        (PRODUCT, "product"),
        (
            f"<nav><a href=/>Start</a></nav><h1>Install</h1>{PROSE}" + "<pre>make</pre>" * 3,
            "docs",
        ),
    ],
)
def test_pages_are_known_by_their_build(it: Driving, html: str, archetype: str) -> None:
    it.show(html)
    observed = run(it, "observe_dom").payload

    assert observed["archetype"] == archetype
    assert archetype != "thread" or len(observed["comments"]) == 6
    assert archetype != "article" or observed["primary"].startswith("The valley is quiet")


@requirement("003.document.observed")
def test_what_is_observed_is_a_document_of_markdown(it: Driving) -> None:
    dialog = "<dialog open>Join us</dialog>"
    more = "<p>There is <a href=/x?token=abc>more</a> of it to be read in the evening.</p>"
    it.show(f"<title>Valley</title><article><h2>Morning</h2>{PROSE}{more}</article>{dialog}")
    observe = msgspec.to_builtins(
        BROWSER_TOOLS["observe_dom"].forms[Surface.LLMCP].converted(ObservePage(max_chars=900))
    )
    (document,) = run(it, observe.pop("tool"), **observe).documents
    content = document.content

    assert isinstance(content, WebObservationSummary)
    assert content.markdown.startswith("## Morning\n\nThe valley is quiet")
    assert "[more](" in content.markdown
    assert "abc" not in content.markdown
    assert len(content.markdown) <= 900
    assert [(one.text, "abc" in one.url) for one in content.extracted_links] == [("more", False)]
    assert Signal.OVERLAY_BLOCKING in content.signals
    assert content.captured_at is not UNSET
    active = it.do(ListTabs(), Tabs).active_tab_id
    assert document.source == Origin(browser="chromium", tab_id=str(active))


def test_a_page_that_answers_a_query_is_a_search(it: Driving) -> None:
    it.show(feed(6), q="stories")

    assert run(it, "observe_dom").payload["archetype"] == "search"


def test_a_part_of_a_page_is_observed_by_its_handle(it: Driving) -> None:
    it.show("<p>Outside</p><div tabindex=0 id=d role=button aria-label=Inner><p>Within, and nothing else.</p></div>")
    observed = run(it, "observe_dom", root=it.id_of("css=#d"), includeMarkdown=True)

    assert "Within" in observed.payload["text"]
    assert "Outside" not in observed.payload["text"]


def test_a_tree_is_read_by_whoever_has_the_session(it: Driving) -> None:
    it.show("<title>Looms</title><button onclick=\"alert('Sure?')\">Save</button>")

    async def read(session: str) -> PageTree:
        with anyio.fail_after(LIMIT_S):
            return await it.web.actor.read_tree(AskTree(caller="driver", session=session))

    tree = it.web.portal.call(read, it.session)
    with pytest.raises(FaultError) as caught:
        it.web.portal.call(read, "sess_" + "A" * 22)
    it.click("save")
    held = it.web.portal.call(read, it.session)

    assert (tree.title, tree.tabs, [node.name for node in tree.nodes]) == ("Looms", 1, ["Save"])
    assert tree.elements == {tree.nodes[0].id: "button_save"}
    assert caught.value.fault.code is Code.SESSION_NOT_FOUND
    assert (held.dialog, held.nodes) == ("Sure?", ())
