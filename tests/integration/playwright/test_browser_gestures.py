"""Other clicks, drags, selections, switches and reading, in a real browser."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from protocol.browsers.gestures import (
    AwaitElement,
    Blur,
    ClickAt,
    DoubleClick,
    Drag,
    FindText,
    Focus,
    ReadElement,
    RightClick,
    ScrollElement,
    SelectText,
    SetChecked,
    TypeKeys,
)
from protocol.browsers.operations import DescribeField, TypeText
from protocol.browsers.results import Acted, ElementRead, FieldDescribed
from protocol.browsers.sessions import AskBrowser
from protocol.faults import Code, FaultError
from tests.integration.playwright.browsing import Browsing
from tests.integration.playwright.driving import Driving, driving, site_and_browser

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

PAGE = """<title>Loom</title>
<style>body{margin:0} #a,#b,#drop,#pick{position:absolute;width:80px;height:40px} #a{left:10px;top:10px}
#pick{left:10px;top:100px} #b{left:300px;top:10px} #drop{left:300px;top:100px}
#box{height:60px;width:100px;overflow:auto;position:absolute;top:200px}
form{position:absolute;top:300px} #far{position:absolute;top:3000px}</style>
<button id=a>Warp</button><button id=b>Weft</button>
<div id=drop role=button aria-label="Basket">Basket</div>
<div id=pick draggable=true role=button aria-label="Shuttle">Shuttle</div>
<div id=box tabindex=0 role=listbox aria-label="Threads"><div style="height:600px">threads</div></div>
<form><input id=word aria-label="Word" value="old"><input type=checkbox id=fast aria-label="Fast">
<div role=switch tabindex=0 id=dark aria-checked=false aria-label="Dark">Dark</div>
<input type=password id=key aria-label="Key" value="hush">
<select aria-label="Colour"><option>Red<option>Blue</select>
<p role=button tabindex=0 aria-label="Saying" id=saying>A stitch in <b>time</b> saves nine</p></form>
<p id=far>The very end of the cloth</p>
<script>
const log = []; window.log = log;
const on = (id, type, say) => document.getElementById(id).addEventListener(type, say);
on('a', 'dblclick', () => log.push('double'));
on('a', 'contextmenu', (e) => { e.preventDefault(); log.push('right'); });
on('b', 'click', (e) => log.push(`at ${e.clientX},${e.clientY}`));
on('dark', 'click', (e) => e.target.setAttribute('aria-checked', e.target.getAttribute('aria-checked') !== 'true'));
on('pick', 'dragstart', (e) => e.dataTransfer.setData('text/plain', 'shuttle'));
on('drop', 'dragover', (e) => e.preventDefault());
on('drop', 'drop', (e) => { e.preventDefault(); log.push('dropped ' + e.dataTransfer.getData('text/plain')); });
let moved = 0, held = false;
on('a', 'mousedown', () => { held = true; moved = 0; });
addEventListener('mousemove', () => { if (held) moved++; });
addEventListener('mouseup', (e) => {
  if (held && moved > 4) log.push(`dragged to ${e.clientX},${e.clientY}`);
  held = false;
});
</script>"""


@pytest.fixture(scope="module")
def web() -> Generator[Browsing]:
    with site_and_browser() as served:
        yield served


@pytest.fixture
def it(web: Browsing) -> Generator[Driving]:
    with driving(web) as driven:
        yield driven


def log_of(it: Driving) -> str:
    return str(it.js("window.log.splice(0).join('; ')"))


def test_elements_and_points_are_clicked_in_every_way(it: Driving) -> None:
    it.show(PAGE)
    warp = it.id_of("Warp")

    it.do(DoubleClick(element_id=warp), Acted)
    it.do(RightClick(element_id=warp), Acted)
    it.do(ClickAt(x=310, y=20), Acted)
    outside = it.fault(ClickAt(x=90_000, y=20))

    assert log_of(it) == "double; right; at 310,20"
    assert (outside.code, outside.field) == (Code.EXECUTION_ERROR, "x")


def test_things_are_dragged_by_the_mouse_and_by_the_browser(it: Driving) -> None:
    it.show(PAGE)

    it.do(Drag(element_id=it.id_of("Shuttle"), to_element_id=it.id_of("Basket")), Acted)
    it.do(Drag(element_id=it.id_of("Warp"), to_x=200.0, to_y=150.0), Acted)
    it.do(Drag(x=30.0, y=30.0, to_x=120.0, to_y=160.0), Acted)
    nowhere = it.fault(Drag(x=30.0, y=30.0))

    assert log_of(it) == "dropped shuttle; dragged to 200,150; dragged to 120,160"
    assert (nowhere.code, nowhere.field) == (Code.VALIDATION_INVALID_REQUEST, "to_element_id")


def test_a_switch_is_clicked_only_where_it_stands_otherwise(it: Driving) -> None:
    it.show(PAGE)
    fast, dark = it.id_of("Fast"), it.id_of("Dark")

    first = it.do(SetChecked(element_id=fast, checked=True), Acted)
    again = it.do(SetChecked(element_id=fast, checked=True), Acted)
    it.do(SetChecked(element_id=dark, checked=True), Acted)
    it.do(SetChecked(element_id=dark, checked=True), Acted)

    assert it.js("[document.querySelector('#fast').checked, document.querySelector('#dark').ariaChecked].join()") == (
        "true,true"
    )
    assert "already" not in first.changed
    assert "already" in again.changed


def test_words_are_selected_typed_after_and_focus_is_given_and_taken(it: Driving) -> None:
    it.show(PAGE)
    word = it.id_of("Word")

    it.do(SelectText(element_id=it.id_of("Saying"), text="in time saves"), Acted)
    selected = it.js("getSelection().toString()")
    strange = it.fault(SelectText(element_id=it.id_of("Saying"), text="in vain"))
    it.do(Focus(element_id=word), Acted)
    it.js("document.querySelector('#word').setSelectionRange(3, 3)")
    it.do(TypeKeys(text="er"), Acted)
    focused = it.js("document.activeElement.id")
    it.do(Blur(element_id=word), Acted)

    assert (selected, strange.field) == ("in time saves", "text")
    assert (focused, it.js("document.activeElement.localName")) == ("word", "body")
    assert it.do(ReadElement(element_id=word), ElementRead).value == "older"


def test_an_element_is_read_but_for_what_is_secret(it: Driving) -> None:
    it.show(PAGE)
    it.do(TypeText(element_id=it.id_of("Key"), text="hush hush"), Acted)

    colour = it.do(ReadElement(element_id=it.id_of("Colour"), attribute="aria-label"), ElementRead)
    key = it.do(ReadElement(element_id=it.id_of("Key"), attribute="value"), ElementRead)

    assert (colour.value, colour.options, colour.attribute) == ("Red", ("Red", "Blue"), "Colour")
    assert (key.text, key.value, key.attribute, key.visible) == ("", "", None, True)


def test_scrolling_reaches_what_is_further_down(it: Driving) -> None:
    it.show(PAGE)
    threads = it.id_of("Threads")

    down = it.do(ScrollElement(element_id=threads, pages=2.0), Acted)
    up = it.do(ScrollElement(element_id=threads, direction="up", pages=9.0), Acted)
    it.do(FindText(text="the very  end of"), Acted)
    shown = it.js("document.querySelector('#far').getBoundingClientRect().top < innerHeight")
    missing = it.fault(FindText(text="no such words"))
    it.do(AwaitElement(element_id=threads), Acted)

    assert ("pixels are left" in down.changed, "Scrolled up" in up.changed, shown) == (True, True, True)
    assert missing.code is Code.ELEMENT_NOT_FOUND


def test_what_lies_at_a_point_is_described_and_held_to(it: Driving) -> None:
    it.show(PAGE)

    weft = it.do(DescribeField(at=(310.0, 20.0)), FieldDescribed).facts
    nothing = it.do(DescribeField(at=(700.0, 500.0)), FieldDescribed).facts

    assert (weft.tag, weft.label, bool(weft.digest)) == ("button", "Weft", True)
    assert (nothing.tag, nothing.digest) == ("body", "")


def test_a_point_at_which_something_else_lies_by_now_is_not_clicked(it: Driving) -> None:
    it.show(PAGE)
    decided = it.do(DescribeField(at=(310.0, 20.0)), FieldDescribed).facts.digest
    click = ClickAt(x=310, y=20, session_id=it.session)
    ask = AskBrowser(do=click, caller="driver", expects=decided)

    it.web.portal.call(it.web.actor.ask_session, ask)
    it.js("document.querySelector('#b').textContent = 'Delete everything'")
    with pytest.raises(FaultError) as refused:
        it.web.portal.call(it.web.actor.ask_session, ask)

    assert (refused.value.fault.code, log_of(it)) == (Code.ELEMENT_NOT_FOUND, "at 310,20")
