"""Clicks, pointers and keys in a browser session: what they do, and what they say where something is in the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator

import pytest

from protocol.browsers.operations import Click, GetDownloads, Hover, ListTabs, PressKey, TypeText
from protocol.browsers.results import Acted, Downloads, Tabs
from protocol.faults import Code
from tests.integration.playwright.browsing import Browsing, page
from tests.integration.playwright.driving import Driving, code, driving, site_and_browser
from tests.support.scale import first, one_in

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LOGGED = "<script>const log = []; const note = (word) => log.push(word);</script>"


@pytest.fixture(scope="module")
def web() -> Generator[Browsing]:
    with site_and_browser() as running:
        yield running


@pytest.fixture(scope="module")
def it(web: Browsing) -> Generator[Driving]:
    with driving(web) as driven:
        yield driven


def test_a_click_is_a_persons_click_and_says_what_changed(it: Driving) -> None:
    it.show(f"{LOGGED}<button onclick='note(event.isTrusted); this.textContent = \"Done\"'>Go</button>")
    acted = it.click("Go")

    assert (acted.success, acted.tab_id, acted.new_tab_created, acted.dialog) == (True, 1, None, None)
    assert "Done" in acted.changed
    assert it.js("log") == [True]


def test_a_click_waits_for_the_page_that_it_leads_to(it: Driving) -> None:
    it.show("<a href='/slow?ms=1500'>Read on</a>")
    acted = it.click("Read on")

    assert acted.page is not None
    assert acted.page.url == it.url("/slow?ms=1500")
    assert acted.page.title.startswith("How a loom is warped")


def test_a_click_waits_for_what_its_scripts_bring(it: Driving) -> None:
    it.show(
        "<button onclick=\"fetch('/late-data/x?ms=700').then(r => r.json()).then(d => document.body.append("
        "Object.assign(document.createElement('a'), {href: '/', textContent: d.text})))\">Load</button>"
    )
    acted = it.click("Load")

    assert "The cloth has come at last." in acted.changed


def test_what_is_far_below_is_brought_into_the_window(it: Driving) -> None:
    it.show(f"{LOGGED}<div style='height:9000px'></div><button onclick='note(1)'>Deep</button>")
    it.click("Deep")

    assert it.js("log") == [1]


def test_what_covers_an_element_is_named_and_nothing_is_clicked(it: Driving) -> None:
    it.show(
        f"{LOGGED}<button onclick='note(1)'>Buy</button>"
        "<div id=consent role=dialog style='position:fixed;inset:0;background:#fff8' onclick='note(2)'>"
        "<div>Cookies</div></div>"
    )
    fault = it.fault(Click(element_id=it.id_of("Buy")))

    assert code(fault) == (Code.EXECUTION_ERROR, "element_id")
    assert "covered by div#consent[role=dialog]" in fault.message
    assert it.js("log") == []


def test_what_is_covered_in_its_middle_is_clicked_where_it_is_free(it: Driving) -> None:
    it.show(
        f"{LOGGED}<button style='width:90px;height:60px' onclick='note(1)'>Buy</button>"
        "<div style='position:absolute;left:30px;top:0;width:400px;height:400px' onclick='note(2)'></div>"
    )
    it.click("Buy")

    assert it.js("log") == [1]


@pytest.mark.full
def test_what_covers_an_element_for_a_moment_is_waited_for(it: Driving) -> None:
    it.show(
        f"{LOGGED}<button onclick='note(1)'>Buy</button><div id=veil style='position:fixed;inset:0'></div>"
        "<script>setTimeout(() => veil.remove(), 2600)</script>"
    )
    element = it.id_of("Buy")
    it.do(Click(element_id=element), Acted)

    assert it.js("log") == [1]


@pytest.mark.parametrize(
    ("markup", "words"),
    first(
        1,
        [
            ("<button disabled>Buy</button>", "disabled"),
            ("<button aria-disabled=true>Buy</button>", "disabled"),
            ("<fieldset disabled><button>Buy</button></fieldset>", "disabled"),
        ],
    ),
)
def test_what_cannot_be_clicked_says_why(it: Driving, markup: str, words: str) -> None:
    it.show(markup)
    fault = it.fault(Click(element_id=it.id_of("Buy")))

    assert code(fault) == (Code.EXECUTION_ERROR, "element_id")
    assert words in fault.message


def test_an_element_that_was_hidden_since_is_told_as_such(it: Driving) -> None:
    it.show("<button id=b>Buy</button>")
    element = it.id_of("Buy")
    it.js("b.style.display = 'none'")
    fault = it.fault(Click(element_id=element))

    assert fault.code in (Code.EXECUTION_ERROR, Code.ELEMENT_NOT_FOUND)
    assert fault.field == "element_id"


@pytest.mark.parametrize("tool", [Click, Hover])
def test_an_element_that_there_is_not_is_not_found(it: Driving, tool: type[Click | Hover]) -> None:
    it.show("<button>Buy</button>")

    assert code(it.fault(tool(element_id="button_sell"))) == (Code.ELEMENT_NOT_FOUND, "element_id")


def test_an_element_that_is_drawn_again_and_again_is_clicked_once(it: Driving) -> None:
    it.show(
        f"{LOGGED}<div id=root></div><script>const draw = () => {{ root.innerHTML = "
        "'<button onclick=note(1)>Buy</button>' }; draw(); setInterval(draw, 1500)</script>"
    )
    element = it.id_of("Buy")
    it.js("draw()")
    it.do(Click(element_id=element), Acted)

    assert it.js("log") == [1]


def test_a_styled_checkbox_is_ticked_by_its_label(it: Driving) -> None:
    it.show("<label style='display:block'><input id=c type=checkbox style='display:none'>Agree</label>")
    element = it.id_of("Agree")
    it.do(Click(element_id=element), Acted)

    assert it.js("c.checked") is True


def test_a_click_inside_a_frame_and_a_shadow_root_lands_there(it: Driving) -> None:
    it.show(
        "<iframe srcdoc=\"<button onclick='parent.inner = 1'>Inner</button>\"></iframe><div id=host></div><script>"
        "host.attachShadow({mode: 'open'}).innerHTML = '<button onclick=\"window.shade = 1\">Shade</button>'</script>"
    )
    it.click("Inner")
    it.click("Shade")

    assert it.js("[window.inner, window.shade]") == [1, 1]


def test_a_click_that_leads_nowhere_says_so(it: Driving) -> None:
    it.show("<a href='/hangup'>Broken</a>")
    acted = it.click("Broken")

    assert "cannot be had (NETWORK_CONNECTION_FAILED)" in acted.changed
    assert "go_back" in acted.changed


def test_a_file_that_a_click_brings_is_among_the_downloads(it: Driving) -> None:
    it.show("<a href='/csv' download>Save</a>")
    acted = it.click("Save")
    until(lambda: bool(it.do(GetDownloads(), Downloads).downloads))
    (file,) = it.do(GetDownloads(), Downloads).downloads

    assert acted.changed == "A download has begun: “csv.csv”; get_downloads tells when it is there."
    assert it.web.shelf.kept[file.name].startswith(b"name,length")


@pytest.mark.full
def test_a_file_that_its_site_takes_a_while_to_send_is_told_by_the_click_that_asked_for_it(it: Driving) -> None:
    it.show("<a href='/slow?ms=900' download=late.txt>Save</a>")

    assert it.click("Save").changed == "A download has begun: “late.txt”; get_downloads tells when it is there."


@pytest.mark.full
def test_a_click_that_closes_its_own_tab_is_done(it: Driving) -> None:
    inner = "<button onclick=window.close()>Bye</button>"
    it.show(f'<button onclick="window.open(`{page(inner)}`)">Open</button>')
    opened = it.click("Open").new_tab_created
    acted = it.do(Click(element_id=it.id_of("Bye", opened), tab_id=opened), Acted)

    assert (acted.success, acted.page) == (True, None)
    assert [one.tab for one in it.do(ListTabs(), Tabs).tabs] == [1]


def test_hovering_shows_what_it_shows(it: Driving) -> None:
    it.show(
        "<style>#menu a { display: none } #menu:hover a { display: inline }</style>"
        "<div id=menu><button>Menu</button><a href=/>Looms</a></div>"
    )
    acted = it.do(Hover(element_id=it.id_of("Menu")), Acted)

    assert "Looms" in acted.changed


@pytest.mark.parametrize(
    ("key", "modifiers", "expected"),
    one_in(
        4,
        [
            ("Enter", (), "Enter"),
            ("esc", (), "Escape"),
            ("ArrowDown", (), "ArrowDown"),
            ("page down", (), "PageDown"),
            ("space", (), " "),
            (" ", (), " "),
            ("a", (), "a"),
            ("A", ("Control",), "Control+A"),
            ("s", ("Control",), "Control+s"),
            ("Tab", ("Shift",), "Shift+Tab"),
            ("F2", (), "F2"),
        ],
    ),
)
def test_a_key_is_pressed(it: Driving, key: str, modifiers: tuple[str, ...], expected: str) -> None:
    it.show(
        f"{LOGGED}<script>addEventListener('keydown', (e) => {{ if (!['Control', 'Shift'].includes(e.key)) "
        "note([e.ctrlKey && 'Control', e.shiftKey && 'Shift', e.key].filter(Boolean).join('+')) })</script>"
    )
    acted = it.do(PressKey(key=key, modifiers=modifiers), Acted)  # type: ignore[arg-type] # names of modifiers

    assert acted.success
    assert [pressed.lower() for pressed in it.js("log")] == [expected.lower()]


@pytest.mark.parametrize(
    ("key", "modifiers", "name"),
    one_in(
        3,
        [
            ("w", ("Control",), "Control+w"),
            ("W", ("Control", "Shift"), "Control+Shift+W"),
            ("q", ("Meta",), "Meta+q"),
            ("F4", ("Alt",), "Alt+F4"),
            ("left", ("Alt",), "Alt+ArrowLeft"),
            ("r", ("Control",), "Control+r"),
            ("F5", (), "F5"),
            ("t", ("Control",), "Control+t"),
            ("v", ("Control",), "Control+v"),
            ("Insert", ("Shift",), "Shift+Insert"),
        ],
    ),
)
def test_keys_that_leave_the_page_or_close_the_browser_are_refused_by_name(
    it: Driving, key: str, modifiers: tuple[str, ...], name: str
) -> None:
    it.show(f"{LOGGED}<script>addEventListener('keydown', () => note(1))</script>")
    fault = it.fault(PressKey(key=key, modifiers=modifiers))  # type: ignore[arg-type] # names of modifiers

    assert code(fault) == (Code.VALIDATION_INVALID_REQUEST, "key")
    assert f"{name} is refused" in fault.message
    assert it.js("log") == []


def test_a_key_that_there_is_not_is_told_with_those_that_there_are(it: Driving) -> None:
    fault = it.fault(PressKey(key="Hyper"))

    assert code(fault) == (Code.VALIDATION_INVALID_REQUEST, "key")
    assert "Enter" in fault.message


def test_enter_in_a_form_sends_it(it: Driving) -> None:
    it.show("<form action=/told><input name=q aria-label=Query></form>")
    acted = it.do(TypeText(element_id=it.id_of("Query"), text="warp", submit=True), Acted)

    assert acted.page is not None
    assert acted.page.url == it.url("/told?q=warp")


def until(happened: Callable[[], bool]) -> None:
    """Wait for something; the test's own timeout bounds it."""
    while not happened():
        time.sleep(0.05)
