"""Filling in, in a browser session: typing, setting, choosing and uploading, so that the page hears of it."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from protocol.browsers.operations import SelectOption, SetValue, TypeText, UploadFile
from protocol.browsers.results import Acted
from protocol.faults import Code
from tests.integration.playwright.browsing import Browsing
from tests.integration.playwright.driving import Driving, code, driving, site_and_browser
from tests.support.scale import first, one_in

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

# Like the frameworks, it overrides `value` and believes only what an event tells of.
WATCHED = """<input id=f aria-label=Field value=old maxlength=300><script>
const real = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
let last = f.value;
const heard = [];
Object.defineProperty(f, 'value', { get() { return real.get.call(f); }, set(v) { last = v; real.set.call(f, v); } });
f.addEventListener('input', () => { if (real.get.call(f) !== last) heard.push(last = real.get.call(f)); });
f.addEventListener('change', () => heard.push('change'));
f.addEventListener('keydown', (event) => heard.push('key ' + event.key));
</script>"""

LISTBOX = """<button id=b role=combobox aria-haspopup=listbox aria-expanded=false aria-label=Colour>Choose</button>
<div id=list role=listbox hidden>
<div role=option data-value=r>Red</div><div role=option data-value=g>Green</div></div><script>
b.onclick = () => setTimeout(() => { list.hidden = false }, 200);
for (const one of list.children) one.onclick = () => { b.textContent = one.textContent; list.hidden = true };
</script>"""

OFFERS = """<input id=b role=combobox aria-expanded=false aria-label=City value=Oslo>
<div id=list role=listbox></div><script>
b.oninput = () => setTimeout(() => {
  list.innerHTML = b.value.startsWith('Bo') ? '<div role=option>Boston</div><div role=option>Bonn</div>' : '';
  for (const one of list.children) one.onclick = () => { b.value = one.textContent; list.innerHTML = '' };
}, 100);
</script>"""

DROP = """<button id=b onclick="f.click()">Attach</button><input id=f type=file hidden><script>
f.onchange = async () => { const file = f.files[0]; window.got = [file.name, file.type, await file.text()] };
</script>"""


@pytest.fixture(scope="module")
def web() -> Generator[Browsing]:
    with site_and_browser() as running:
        yield running


@pytest.fixture(scope="module")
def it(web: Browsing) -> Generator[Driving]:
    with driving(web) as driven:
        yield driven


def set_to(it: Driving, query: str, value: str, *, is_html: bool = False) -> Acted:
    return it.do(SetValue(element_id=it.id_of(query), value=value, is_html=is_html), Acted)


# -- typing ------------------------------------------------------------------------------------------------------------


def test_typing_takes_out_what_a_field_holds_and_goes_key_by_key(it: Driving) -> None:
    it.show(WATCHED)
    acted = it.do(TypeText(element_id=it.id_of("Field"), text="new"), Acted)

    assert acted.success
    assert it.js("heard.filter((one) => one.startsWith('key'))") == ["key Delete", "key n", "key e", "key w"]
    assert it.js("real.get.call(f)") == "new"


def test_nothing_typed_empties_a_field(it: Driving) -> None:
    it.show(WATCHED)
    it.do(TypeText(element_id=it.id_of("Field"), text=""), Acted)

    assert it.js("real.get.call(f)") == ""


REWRITES = (
    ("maxlength=5", "abcdefgh", "abcde"),
    ("oninput=\"value = value.replace(/[a-z]/g, '')\"", "12ab34", "1234"),
)


@pytest.mark.parametrize(("attribute", "text", "holds"), REWRITES)
def test_what_a_page_makes_of_a_text_is_said(it: Driving, attribute: str, text: str, holds: str) -> None:
    it.show(f"<input aria-label=Field {attribute}>")
    typed = it.do(TypeText(element_id=it.id_of("Field"), text=text), Acted)
    as_it_stands = it.do(TypeText(element_id=it.id_of("Field"), text=holds), Acted)

    assert f"The field holds “{holds}” now" in typed.changed
    assert "holds" not in as_it_stands.changed


def test_what_a_field_for_passwords_holds_is_not_said(it: Driving) -> None:
    it.show("<input type=password aria-label=Field maxlength=5>")
    typed = it.do(TypeText(element_id=it.id_of("Field"), text="abcdefgh"), Acted)

    assert "abcde" not in typed.changed


@pytest.mark.full
def test_a_long_text_is_there_whole(it: Driving) -> None:
    it.show("<textarea id=t aria-label=Notes></textarea>")
    text = "warp and weft\n" * 2_000
    it.do(TypeText(element_id=it.id_of("Notes"), text=text), Acted)

    assert it.js("t.value.length") == len(text)


def test_a_line_break_sends_nothing(it: Driving) -> None:
    it.show(
        "<form action=/told><input id=i aria-label=Subject><textarea id=t aria-label=Body "
        "onkeydown=\"if (event.key === 'Enter' && !event.shiftKey) form.submit()\"></textarea></form>"
    )
    it.do(TypeText(element_id=it.id_of("Subject"), text="one\ntwo"), Acted)
    it.do(TypeText(element_id=it.id_of("Body"), text="one\ntwo"), Acted)

    assert it.js("[i.value, t.value]") == ["one two", "one\ntwo"]


def test_an_editor_is_typed_into(it: Driving) -> None:
    it.show("<div id=e contenteditable=true role=textbox aria-label=Post>Old words</div>")
    it.do(TypeText(element_id=it.id_of("Post"), text="New words"), Acted)

    assert it.js("e.innerText") == "New words"


@pytest.mark.parametrize(
    ("markup", "words"),
    one_in(
        3,
        [
            ("<input aria-label=Name readonly value=x>", "only be read"),
            ("<input aria-label=Name disabled>", "disabled"),
            ("<input aria-label=Name type=file>", "upload_file"),
            ("<select aria-label=Name><option>A</select>", "select_option"),
            ("<button>Name</button>", "holds no value"),
        ],
    ),
    ids=["readonly", "disabled", "file", "select", "button"],
)
def test_what_cannot_be_typed_into_says_why(it: Driving, markup: str, words: str) -> None:
    it.show(markup)
    fault = it.fault(TypeText(element_id=it.id_of("Name"), text="x"))

    assert code(fault) == (Code.EXECUTION_ERROR, "element_id")
    assert words in fault.message


# -- setting -----------------------------------------------------------------------------------------------------------


def test_a_framework_hears_of_a_value_that_is_set(it: Driving) -> None:
    it.show(WATCHED)
    acted = set_to(it, "Field", "new")

    assert acted.success
    assert it.js("heard") == ["new", "change"]


@pytest.mark.parametrize(
    ("markup", "value", "expected"),
    one_in(
        3,
        [
            ("<textarea id=x aria-label=Field>old</textarea>", "one\ntwo", "one\ntwo"),
            ("<input id=x aria-label=Field type=date>", "2026-11-21", "2026-11-21"),
            ("<input id=x aria-label=Field type=datetime-local>", "2026-11-21T10:30", "2026-11-21T10:30"),
            ("<input id=x aria-label=Field type=time>", "10:30", "10:30"),
            ("<input id=x aria-label=Field type=color>", "#ff8800", "#ff8800"),
            ("<input id=x aria-label=Field type=number>", "2.5", "2.5"),
            ("<input id=x aria-label=Field type=range min=0 max=10 step=5>", "10", "10"),
            ("<input id=x aria-label=Field type=password>", "hunter2", "hunter2"),
            ("<select id=x aria-label=Field><option value=a>A<option value=b>B</select>", "B", "b"),
        ],
    ),
    ids=["textarea", "date", "datetime", "time", "color", "number", "range", "password", "select"],
)
def test_a_field_of_each_kind_takes_its_value(it: Driving, markup: str, value: str, expected: str) -> None:
    it.show(f"{markup}<script>const heard = []; x.oninput = x.onchange = (e) => heard.push(e.type)</script>")
    acted = set_to(it, "Field", value)

    assert it.js("[x.value, heard.join()]") == [expected, "input,change"]
    assert "hunter2" not in acted.changed


@pytest.mark.parametrize(
    ("kind", "value", "takes"),
    [("date", "tomorrow", "YYYY-MM-DD"), ("number", "many", "a number"), ("time", "noon", "HH:MM")],
)
def test_a_value_that_a_field_does_not_take_is_told_with_the_form_that_it_takes(
    it: Driving, kind: str, value: str, takes: str
) -> None:
    it.show(f"<input id=x aria-label=Field type={kind}>")
    fault = it.fault(SetValue(element_id=it.id_of("Field"), value=value))

    assert code(fault) == (Code.EXECUTION_ERROR, "value")
    assert takes in fault.message


def test_a_range_that_takes_the_nearest_says_which(it: Driving) -> None:
    it.show("<input id=x aria-label=Field type=range min=0 max=10>")

    assert "holds 10 now" in set_to(it, "Field", "99").changed


@pytest.mark.parametrize(
    ("markup", "value", "expected"),
    first(
        1,
        [
            ("<input id=x type=checkbox aria-label=Field>", "true", True),
            ("<input id=x type=checkbox aria-label=Field checked>", "off", False),
            ("<input id=x type=checkbox aria-label=Field checked>", "on", True),
            ("<input id=x type=radio name=n aria-label=Field>", "true", True),
        ],
    ),
    ids=["tick", "untick", "stay", "radio"],
)
def test_what_is_on_or_off_is_set_so(it: Driving, markup: str, value: str, expected: bool) -> None:  # noqa: FBT001
    it.show(markup)
    set_to(it, "Field", value)

    assert it.js("x.checked") is expected


def test_what_is_on_or_off_takes_nothing_else(it: Driving) -> None:
    it.show("<input id=x type=checkbox aria-label=Field>")

    assert "true or false" in it.fault(SetValue(element_id=it.id_of("Field"), value="perhaps")).message


def test_html_goes_into_an_editor_and_no_script_of_it_runs(it: Driving) -> None:
    it.show("<div id=e contenteditable=true role=textbox aria-label=Post>Old</div><script>let ran = 0</script>")
    markup = (
        "<p>New <b>bold</b> words</p><script>ran = 1</script><img src=/nothing onerror='ran = 2'>"
        "<a href='javascript:ran = 3'>x</a><iframe srcdoc='<script>parent.ran = 4</script>'></iframe>"
    )
    set_to(it, "Post", markup, is_html=True)

    assert it.js("e.querySelector('b').textContent") == "bold"
    assert it.js("e.innerHTML.match(/script|onerror|iframe/)") is None
    assert it.js("new Promise((done) => setTimeout(() => done(ran), 300))") == 0


def test_text_goes_into_an_editor_as_text(it: Driving) -> None:
    it.show("<div id=e contenteditable=true role=textbox aria-label=Post>Old</div>")
    set_to(it, "Post", "a < b & <b>c</b>")

    assert it.js("e.innerText") == "a < b & <b>c</b>"


def test_html_is_for_editors_alone(it: Driving) -> None:
    it.show("<input aria-label=Field>")
    fault = it.fault(SetValue(element_id=it.id_of("Field"), value="<b>x</b>", is_html=True))

    assert code(fault) == (Code.VALIDATION_INVALID_REQUEST, "isHtml")


# -- choosing ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", first(1, ["de", "Germany", "  germany "]))
def test_an_option_is_chosen_by_its_value_or_by_what_it_says(it: Driving, value: str) -> None:
    it.show(
        "<select id=s aria-label=Country><option value=fr>France<option value=de> Germany </select>"
        "<script>const heard = []; s.oninput = s.onchange = (e) => heard.push(e.type)</script>"
    )
    it.do(SelectOption(element_id=it.id_of("Country"), value=value), Acted)

    assert it.js("[s.value, heard.join()]") == ["de", "input,change"]


def test_of_a_list_of_many_options_are_added(it: Driving) -> None:
    it.show("<select id=s multiple aria-label=Colours><option>Red<option>Green<option>Blue</select>")
    for colour in ("Red", "Blue"):
        it.do(SelectOption(element_id=it.id_of("Colours"), value=colour), Acted)

    assert it.js("[...s.selectedOptions].map((one) => one.value)") == ["Red", "Blue"]


def test_an_option_that_there_is_not_is_told_with_those_that_there_are(it: Driving) -> None:
    it.show("<select aria-label=Country><option>France<option>Germany</select>")
    fault = it.fault(SelectOption(element_id=it.id_of("Country"), value="Atlantis"))

    assert code(fault) == (Code.EXECUTION_ERROR, "value")
    assert "“France”, “Germany”" in fault.message


def test_an_option_that_is_disabled_is_not_chosen(it: Driving) -> None:
    it.show("<select id=s aria-label=Country><option>France<option disabled>Germany</select>")

    assert "disabled" in it.fault(SelectOption(element_id=it.id_of("Country"), value="Germany")).message
    assert it.js("s.value") == "France"


@pytest.mark.parametrize("value", first(1, ["Green", "g"]))
def test_a_list_that_the_page_draws_itself_is_chosen_from(it: Driving, value: str) -> None:
    it.show(LISTBOX)
    it.do(SelectOption(element_id=it.id_of("Colour"), value=value), Acted)

    assert it.js("b.textContent") == "Green"


def test_a_list_that_the_page_draws_itself_tells_its_options(it: Driving) -> None:
    it.show(LISTBOX)
    fault = it.fault(SelectOption(element_id=it.id_of("Colour"), value="Blue"))

    assert "“Red”, “Green”" in fault.message


def test_what_a_list_offers_once_words_are_typed_is_chosen(it: Driving) -> None:
    it.show(OFFERS)
    it.do(SelectOption(element_id=it.id_of("City"), value="Boston"), Acted)

    assert it.js("b.value") == "Boston"


def test_a_list_that_offers_no_such_thing_is_left_as_it_was(it: Driving) -> None:
    it.show(OFFERS)
    fault = it.fault(SelectOption(element_id=it.id_of("City"), value="Bologna"))

    assert "“Boston”, “Bonn”" in fault.message
    assert it.js("b.value") == "Oslo"


def test_what_is_no_list_says_so(it: Driving) -> None:
    it.show("<button>Plain</button>")

    assert "no list" in it.fault(SelectOption(element_id=it.id_of("Plain"), value="x")).message


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "markup",
    first(1, [("<input id=f type=file aria-label=Attach><script>f.onchange = async () => { const file = f.files[0]; "
     "window.got = [file.name, file.type, await file.text()] }</script>"), DROP]),
    ids=["field", "button"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/home/me/note.txt", "C:\\Users\\me\\note.txt"])
def test_a_file_is_put_in_under_its_own_name_alone(it: Driving, markup: str, path: str) -> None:
    it.web.shelf.kept["up-1"] = b"Dear weaver"
    it.show(markup)
    it.do(UploadFile(element_id=it.id_of("Attach"), file_path=path, stored="up-1"), Acted)

    assert it.js("window.got") == ["note.txt", "text/plain", "Dear weaver"]


def test_a_file_is_for_local_callers_alone(it: Driving) -> None:
    it.web.shelf.kept["up-1"] = b"Dear weaver"
    it.show(DROP)
    fault = it.fault(UploadFile(element_id=it.id_of("Attach"), file_path="/note.txt", stored="up-1"), local=False)

    assert code(fault) == (Code.VALIDATION_INVALID_REQUEST, "filePath")


@pytest.mark.parametrize("stored", [None, "up-gone"])
def test_a_file_that_was_not_handed_over_is_none(it: Driving, stored: str | None) -> None:
    it.show(DROP)
    fault = it.fault(UploadFile(element_id=it.id_of("Attach"), file_path="/etc/passwd", stored=stored))

    assert code(fault) == (Code.VALIDATION_INVALID_REQUEST, "filePath")


def test_what_takes_no_file_says_so(it: Driving) -> None:
    it.web.shelf.kept["up-1"] = b"Dear weaver"
    it.show("<button>Plain</button>")
    fault = it.fault(UploadFile(element_id=it.id_of("Plain"), file_path="/note.txt", stored="up-1"))

    assert code(fault) == (Code.EXECUTION_ERROR, "element_id")
