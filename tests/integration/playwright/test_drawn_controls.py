"""Controls that a page draws itself, as libraries of components do: they are told, named and set as fields are."""

# ruff: noqa: E501 - markup and scripts stand as a page has them

from __future__ import annotations

from collections.abc import Generator

import pytest

from protocol.browsers.gestures import FindText, SetChecked
from protocol.browsers.operations import Click, DescribeField, GetPageInfo, Hover, SelectOption, SetValue, TypeText
from protocol.browsers.results import Acted, FieldDescribed, PageInfo
from protocol.browsers.sessions import AskBrowser
from protocol.faults import Code, FaultError
from tests.integration.playwright.browsing import Browsing
from tests.integration.playwright.driving import Driving, code, driving, site_and_browser

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

# A transparent field in a box; what is read aloud of its options is nowhere to be seen, and the rows that are seen have no roles.
BOXED = """<style>.box { position: relative; width: 200px; height: 32px; border: 1px solid; cursor: pointer }
.box input { position: absolute; inset: 0; opacity: 0; width: 100%; border: 0 } .aloud { height: 0; width: 0; overflow: hidden }
#pop { position: absolute; top: 120px; z-index: 9; background: white; width: 200px } #rows { height: 60px; overflow: auto } .off { cursor: not-allowed }</style>
<label for=city>City</label><div class=box id=box><span><input id=city role=combobox readonly aria-expanded=false aria-controls=aloud></span><span id=shown></span></div>
<div id=pop hidden><div id=aloud class=aloud role=listbox><div role=option>Oslo</div></div><div id=rows></div></div><script>
const names = ['Oslo', 'Rome', ...Array.from({ length: 40 }, (_, at) => 'Town ' + at)], chosen = new Set();
function draw() {
  const from = Math.floor(rows.scrollTop / 20);
  rows.innerHTML = `<div style="height:${names.length * 20}px;position:relative"></div>`;
  names.slice(from, from + 5).forEach((name, at) => {
    const row = document.createElement('div');
    row.innerHTML = `<div>${name}</div>`;
    row.setAttribute('aria-selected', chosen.has(name));
    row.style.cssText = `position:absolute;height:20px;top:${(from + at) * 20}px`;
    if (name === 'Rome') row.className = 'off';
    else row.onclick = () => { MANY && chosen.has(name) ? chosen.delete(name) : (MANY || chosen.clear(), chosen.add(name)); shown.textContent = [...chosen].join(); pop.hidden = !MANY; city.setAttribute('aria-expanded', MANY); draw(); };
    rows.firstChild.append(row);
  });
}
box.onmousedown = () => { pop.hidden = !pop.hidden; city.setAttribute('aria-expanded', !pop.hidden); draw() };
rows.onscroll = draw;
</script>"""
ONE, MANY = BOXED.replace("MANY", "false"), BOXED.replace("MANY", "true")

# Options in a shadow tree, whose words are slotted, and a menu that no attribute connects with its field.
SLOTTED = """<button id=b role=combobox aria-expanded=false aria-controls=list aria-label=Month>-</button><div id=list role=listbox hidden></div><script>
for (const name of ['May', 'June']) {
  const one = document.createElement('one-month');
  one.attachShadow({ mode: 'open' }).innerHTML = '<div role=option><slot></slot></div>';
  one.textContent = name;
  one.onclick = () => { b.textContent = name; list.hidden = true };
  list.append(one);
}
b.onclick = () => { list.hidden = false; b.setAttribute('aria-expanded', true) };
</script>"""
LOOSE = """<p>June</p><button id=b aria-label=Month>-</button><div id=menu style="position:absolute;z-index:3" hidden><div>May</div><div>June</div><div>Add <b>July</b> …</div></div><script>
b.onclick = () => { menu.hidden = false };
for (const one of menu.children) one.onclick = () => { b.textContent = one.textContent; menu.hidden = true };
</script>"""

# A list for the keyboard in a point that scrolls, beside the one that the form sends; what is clicked is drawn around both.
TWIN = """<style>.off { position: absolute; width: 1px; height: 1px; overflow: hidden; opacity: 0; clip: rect(0 0 0 0) }</style>
<h1>Cities of the north</h1><label for=city>City</label><div id=box style="position:relative;width:160px;height:40px;border:1px solid">
<div class=off id=own><input id=city readonly aria-haspopup=listbox style="width:180px"></div><div class=off><select tabindex=-1><option>Choose</select></div>
<span id=shown>Choose</span></div><div id=pop role=listbox hidden><div role=option>Oslo</div><div role=option>Rome</div></div><script>
box.onclick = () => { pop.hidden = false };
for (const one of pop.children) one.onclick = () => { shown.textContent = city.value = one.textContent; pop.hidden = true; own.scrollLeft = 90 };
</script>"""

SLIDER = """<div style="width:200px;background:silver"><div id=s role=slider tabindex=0 aria-label=Volume aria-valuemin=0 aria-valuemax=100 aria-valuenow=50 style="width:20px;height:20px;background:blue"></div></div><script>
s.onkeydown = ({ key }) => {
  const by = { ArrowRight: 5, ArrowLeft: -5 }[key] ?? 0;
  s.setAttribute('aria-valuenow', Math.min(100, Math.max(0, Number(s.getAttribute('aria-valuenow')) + by)));
};</script>"""


@pytest.fixture(scope="module")
def web() -> Generator[Browsing]:
    with site_and_browser() as running:
        yield running


@pytest.fixture(scope="module")
def it(web: Browsing) -> Generator[Driving]:
    with driving(web) as driven:
        yield driven


def told(it: Driving) -> list[tuple[str, str]]:
    return [(one.label, one.value) for one in it.do(GetPageInfo(), PageInfo).elements]


# -- lists -------------------------------------------------------------------------------------------------------------


def test_a_transparent_list_is_told_with_what_is_drawn_for_it(it: Driving) -> None:
    it.show(ONE)
    city = it.id_of("City")
    before = told(it)
    for name in ("Oslo", "Town 33"):
        it.do(SelectOption(element_id=city, value=name), Acted)

    assert (before, told(it)) == ([("City", "")], [("City", "Town 33")])


def test_an_option_that_is_drawn_as_disabled_is_not_chosen(it: Driving) -> None:
    it.show(ONE)

    assert "disabled" in it.fault(SelectOption(element_id=it.id_of("City"), value="Rome")).message
    assert "“Oslo”, “Rome”" in it.fault(SelectOption(element_id=it.id_of("City"), value="Bonn")).message


def test_a_form_that_hides_its_properties_hides_no_option(it: Driving) -> None:
    names = "children contains matches closest querySelectorAll assignedSlot shadowRoot id"
    fields = "".join(f"<input name={name}>" for name in f"{names} checkVisibility getBoundingClientRect".split())
    it.show(f"<form>{ONE}<p>{fields}</p></form>")
    it.do(SelectOption(element_id=it.id_of("City"), value="Oslo"), Acted)

    assert ("City", "Oslo") in told(it)


def test_words_are_found_in_a_form_that_hides_its_properties(it: Driving) -> None:
    names = ["children", "shadowRoot", "innerText", "textContent", "checkVisibility", "scrollIntoView", "parentNode"]
    it.show(
        f"<p style='height:2000px'><form>{''.join(f'<input name={name}>' for name in names)}<p>These words</p></form>"
    )

    assert "in the window" in it.do(FindText(text="These words"), Acted).changed
    assert it.js("scrollY") > 0


@pytest.mark.parametrize("name", ["parentNode", "parentElement", "getAttribute", "hasAttribute"])
def test_what_a_form_hides_keeps_nobody_from_clicking_in_it(it: Driving, name: str) -> None:
    it.show(
        f"<form><input name={name}><button type=button id=b>Go</button><label><input type=checkbox id=c> Agree</label></form><script>b.onclick = () => {{ b.textContent = 'Gone' }}</script>"
    )
    it.do(Hover(element_id=it.id_of("Go")), Acted)
    it.click("Go")
    it.do(SetChecked(element_id=it.id_of("Agree"), checked=True), Acted)

    assert it.js("[b.textContent, c.checked]") == ["Gone", True]


def test_a_list_with_a_hidden_twin_is_one_list(it: Driving) -> None:
    it.show(TWIN)
    before = told(it)
    for name in ("Oslo", "Rome"):
        it.do(SelectOption(element_id=it.id_of("City"), value=name), Acted)

    assert (before, told(it)) == ([("City", "Choose")], [("City", "Rome")])


FIELD_WITHIN = "<div id=b role=combobox tabindex=0 aria-label=Tags aria-controls=l style='width:200px;border:1px solid'>Tags <input id=t></div>"
FIELD_BESIDE = (
    "<div id=b role=combobox tabindex=0 aria-label=Tags aria-controls=l>-</div><input id=t aria-label=Filter>"
)


@pytest.mark.parametrize("markup", [FIELD_WITHIN, FIELD_BESIDE], ids=["within", "beside"])
def test_words_are_typed_for_a_list_wherever_its_field_is(it: Driving, markup: str) -> None:
    it.show(
        f"{markup}<div id=l role=listbox></div><p id=p></p><script>b.onclick = () => {{ t.focus(); t.oninput() }};"
        "t.oninput = () => { l.innerHTML = `<div role=option>${t.value || 'Oslo'}</div>`; l.firstChild.onclick = () => { p.textContent = l.textContent } }</script>"
    )
    it.do(SelectOption(element_id=it.id_of("Tags"), value="Rome"), Acted)

    assert it.js("p.textContent") == "Rome"


def test_what_a_list_makes_of_words_is_told(it: Driving) -> None:
    it.show(
        "<label for=t>Tags</label><input id=t role=combobox aria-controls=l><div id=l role=listbox></div><script>"
        "t.oninput = t.onclick = () => { l.innerHTML = `<div role=option>${t.value ? 'Add ' + t.value : 'Oslo'}</div>` }</script>"
    )
    message = it.fault(SelectOption(element_id=it.id_of("Tags"), value="Rome")).message

    assert "“Oslo”" in message
    assert "“Add Rome”, which type_text with submit takes" in message


def test_what_is_chosen_of_a_list_of_many_stays_so(it: Driving) -> None:
    it.show(MANY)
    city = it.id_of("City")
    acted = [it.do(SelectOption(element_id=city, value=name), Acted) for name in ("Oslo", "Town 3", "Oslo")]

    assert it.js("[...chosen].sort()") == ["Oslo", "Town 3"]
    assert "chosen already" in acted[-1].changed


@pytest.mark.parametrize("markup", [SLOTTED, LOOSE], ids=["slotted", "without roles"])
def test_an_option_is_found_wherever_it_is_drawn(it: Driving, markup: str) -> None:
    it.show(markup)
    it.do(SelectOption(element_id=it.id_of("Month"), value="June"), Acted)

    assert it.js("b.textContent") == "June"


def test_words_within_an_option_are_none(it: Driving) -> None:
    it.show(LOOSE)
    fault = it.fault(SelectOption(element_id=it.id_of("Month"), value="July"))

    assert code(fault) == (Code.EXECUTION_ERROR, "value")
    assert "“May”, “June”" in fault.message


# -- sliders and switches ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "now", "words"), [("85", "85", ""), ("5", "5", ""), ("52", "50", "stands at 50"), ("500", "100", "100")]
)
def test_a_slider_is_moved_by_its_keys(it: Driving, value: str, now: str, words: str) -> None:
    it.show(SLIDER)
    acted = it.do(SetValue(element_id=it.id_of("Volume"), value=value), Acted)

    assert it.js("s.getAttribute('aria-valuenow')") == now
    assert words in acted.changed


def test_a_switch_is_on_where_the_page_says_so(it: Driving) -> None:
    it.show(
        "<label><input id=s type=checkbox role=switch aria-checked=false> Wifi</label><script>s.onclick = (event) => {"
        "event.preventDefault(); s.setAttribute('aria-checked', s.getAttribute('aria-checked') !== 'true') }</script>"
    )
    for _ in range(2):
        it.do(SetChecked(element_id=it.id_of("Wifi"), checked=True), Acted)

    assert it.js("s.getAttribute('aria-checked')") == "true"


# -- what is there to act on -------------------------------------------------------------------------------------------

UNSEEN = "position:absolute;left:0;top:0;width:100%;height:100%;opacity:0"
AWAY = "position:absolute;width:1px;height:1px;overflow:hidden"


@pytest.mark.parametrize(
    ("markup", "labels"),
    [
        (f"<div style='position:relative;width:200px;height:30px'>Street<input aria-label=Street style='{UNSEEN}'></div>", ["Street"]),
        (f"<div style='position:relative;width:20px;height:20px;background:teal'><input type=checkbox aria-label=Agree style='{UNSEEN}'></div>", ["Agree"]),
        (f"<div style='position:relative;width:200px;height:30px'><input aria-label=Trap style='{UNSEEN}'></div>", []),
        (f"<div style='position:relative;width:200px;height:30px'>Words<input aria-label=Trap style='{UNSEEN};pointer-events:none'></div>", []),
        (f"<label for=s>Land</label><select id=s style='{AWAY}'><option>A</select><span><span role=combobox tabindex=0 aria-labelledby=v><span id=v>A</span></span></span>", ["Land"]),
        ("<label for=d>Day</label><input id=d type=hidden><input readonly>", ["Day"]),
        ("<label for=w>Weight</label><div id=w><div role=slider tabindex=0 aria-valuenow=3>o</div></div>", ["Weight"]),
        ("<input type=radio id=r style='position:absolute;pointer-events:none;clip:rect(0 0 0 0)'><label for=r style='margin-left:40px'>Courier</label>", ["Courier"]),
        ("<div><label>Wifi</label></div><div><p><button role=switch></button></p></div>", ["Wifi"]),
        ("<div><label>Pair</label></div><p><button role=switch></button></p><p><button role=switch></button></p>", ["", ""]),
        ("<input type=radio id=r><label for=r title='4 stars'>★</label><button title=Remove>🗑</button>", ["4 stars", "Remove"]),
        ("<p>Size: <input type=radio name=g> Small <input type=radio name=g> Large</p>", ["Large", "Small"]),
        ("<label for=b>Speed</label><span id=b role=combobox tabindex=0 aria-labelledby=o>Slow</span><div hidden><i id=o role=option>Slow</i></div>", ["Speed"]),
        ("<img tabindex=0 role=button alt=Office src=marker-icon.png>", ["Office"]),
        ("<div onclick='0' style='width:90px'><div style='cursor:pointer'>1</div><div style='cursor:pointer'>2</div></div>", ["1", "1 2", "2"]),
    ],
    ids=["transparent", "tick", "trap", "out of reach", "hidden beside", "hidden before", "around", "by its label", "by a label of none", "two beside a label", "signs", "words behind", "named by its option", "picture", "listened to above"],
)  # fmt: skip
def test_what_a_page_draws_is_told_by_the_label_of_what_it_stands_for(
    it: Driving, markup: str, labels: list[str]
) -> None:
    it.show(markup)

    assert sorted(label for label, _ in told(it)) == labels


def test_a_field_keeps_its_id_whatever_is_chosen_in_it(it: Driving) -> None:
    box = "<div class=box><div aria-live=polite style='height:0'>%s is chosen</div><span>%s</span><input role=combobox aria-label=%s></div>"
    two = [box % ("Nothing", "Nothing", label) for label in ("From", "To")]
    it.show(f"<main id=m>{two[0]}{two[1]}</main>")
    field = it.id_of("To")
    it.js(f"m.lastElementChild.outerHTML = {box % ('Oslo', 'Oslo', 'To')!r}")
    it.do(TypeText(element_id=field, text="Rome"), Acted)

    assert it.js("m.lastElementChild.querySelector('input').value") == "Rome"


def test_what_is_decided_about_a_button_holds_while_it_hides_the_rest_of_the_page(it: Driving) -> None:
    it.show(
        "<h2 id=h>Settings</h2><button id=b>Open</button><script>let clicked = 0; b.onpointerdown = () => h.setAttribute('aria-hidden', true);"
        "b.onclick = () => { clicked += 1 }</script>"
    )
    button = it.id_of("Open")
    decided = it.do(DescribeField(element_id=button), FieldDescribed).facts.digest
    ask = AskBrowser(do=Click(element_id=button, session_id=it.session), caller="driver", expects=decided)
    it.web.portal.call(it.web.actor.ask_session, ask)

    assert it.js("clicked") == 1


def test_what_is_decided_about_a_button_holds_while_its_page_notes_where_it_is_scrolled(it: Driving) -> None:
    it.show(
        "<form onsubmit='return false'><p style='height:3000px'>Long</p><button id=b>Send</button></form><script>let clicked = 0;"
        "onscroll = () => history.replaceState(null, '', `#${Math.round(scrollY)}`); b.onclick = () => { clicked += 1 }</script>"
    )
    send = it.id_of("Send")
    decided = it.do(DescribeField(element_id=send), FieldDescribed).facts.digest
    ask = AskBrowser(do=Click(element_id=send, session_id=it.session), caller="driver", expects=decided)
    it.web.portal.call(it.web.actor.ask_session, ask)

    assert it.js("[clicked, location.hash !== '']") == [1, True]


def test_what_pops_up_in_a_label_is_none_of_its_words(it: Driving) -> None:
    it.show(
        "<label>Day <input id=d> <span id=s></span></label><script>d.onpointerdown = () => {"
        "s.innerHTML = '<span role=alert>Today</span><div role=dialog aria-label=Calendar>1 2 3</div>' }</script>"
    )
    day = it.id_of("Day")
    decided = it.do(DescribeField(element_id=day), FieldDescribed).facts.digest
    ask = AskBrowser(do=Click(element_id=day, session_id=it.session), caller="driver", expects=decided)
    it.web.portal.call(it.web.actor.ask_session, ask)

    assert ("Day", "") in told(it)


@pytest.mark.parametrize(
    "markup",
    [
        (
            "<input id=n aria-label=Amount><script>n.oninput = () => { n.value = '' };"
            "n.onkeydown = (event) => { event.preventDefault(); if (event.key.length === 1) n.value += event.key }</script>"
        ),
        (
            "<p id=p></p><script>const root = p.attachShadow({ mode: 'closed' }); root.innerHTML = '<input aria-label=Amount>';"
            "const n = root.firstChild</script>"
        ),
        (
            "<input id=n aria-label=Amount value=7><script>n.onbeforeinput = (event) => {"
            "if (event.data?.length > 1) event.preventDefault() }</script>"
        ),
        (
            "<input id=n aria-label=Amount><p id=p></p><script>n.oninput = () => { p.append(n.value); n.value = '' };"
            "Object.defineProperty(n, 'typed', { get: () => p.textContent })</script>"
        ),
        "<input id=n placeholder=Amount><script>n.onfocus = () => { n.placeholder = '' }</script>",
        "<input aria-label=Amount><script>const m = document.querySelector('input'), n = {}; m.onkeyup = () => { n.value = m.value }</script>",
    ],
    ids=["keys alone", "closed root", "sign by sign", "once", "asks no more", "heard of by keys"],
)
def test_a_field_that_was_decided_about_is_typed_into(it: Driving, markup: str) -> None:
    it.show(markup)
    amount = it.id_of("Amount")
    decided = it.do(DescribeField(element_id=amount), FieldDescribed).facts.digest
    ask = AskBrowser(
        do=TypeText(element_id=amount, text="12.5", session_id=it.session), caller="driver", expects=decided
    )
    it.web.portal.call(it.web.actor.ask_session, ask)

    assert it.js("n.typed ?? n.value") == "12.5"


def test_what_is_offered_for_words_is_waited_for_and_told(it: Driving) -> None:
    it.show(
        "<input id=n aria-label=Day><script>let offered = 'Today', due; n.oninput = () => { clearTimeout(due);"
        "due = setTimeout(() => { offered = n.value + '!' }, 300) }; n.onkeydown = ({ key }) => { if (key === 'Enter') n.value = offered }</script>"
    )
    acted = it.do(TypeText(element_id=it.id_of("Day"), text="Monday", submit=True), Acted)

    assert "holds “Monday!” now" in acted.changed


def test_what_comes_of_a_click_is_waited_for_where_handlers_are_the_only_scripts(it: Driving) -> None:
    it.show("<button onclick=\"setTimeout(() => { this.textContent = 'Gone' }, 300)\">Go</button>")

    assert "Gone" in it.click("Go").changed


def test_a_button_that_pulses_for_ever_is_clicked(it: Driving) -> None:
    it.show(
        "<style>@keyframes pulse { to { transform: scale(1.2) } } #b { animation: pulse .4s infinite alternate }</style>"
        "<p style='height:60px'></p><button id=b>Buy</button><script>let clicked = 0; b.onclick = () => { clicked += 1 }</script>"
    )
    it.click("Buy")

    assert it.js("clicked") == 1


def test_a_list_that_becomes_another_as_it_is_opened_is_told_as_such(it: Driving) -> None:
    it.show("<button id=b>Month</button><script>b.onpointerdown = () => { b.textContent = 'Year' }</script>")
    month = it.id_of("Month")
    decided = it.do(DescribeField(element_id=month), FieldDescribed).facts.digest
    choose = SelectOption(element_id=month, value="May", session_id=it.session)
    with pytest.raises(FaultError) as refused:
        it.web.portal.call(it.web.actor.ask_session, AskBrowser(do=choose, caller="driver", expects=decided))

    assert refused.value.fault.code is Code.ELEMENT_NOT_FOUND
