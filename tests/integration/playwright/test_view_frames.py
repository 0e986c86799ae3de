"""Elements in frames: of the same origin, of another one of the same site, and of another site altogether."""

# ruff: noqa: E501 - markup and scripts stand as a page has them

from __future__ import annotations

from collections.abc import Generator

import pytest

from protocol.faults import Code, FaultError
from tests.integration.playwright.markup import page
from tests.integration.playwright.viewing import Viewing, viewing

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

CARD = "<form><label>Card number <input autocomplete=cc-number value=4111111111111111></label><button type=button>Pay</button></form>"
LISTENING = "<script>document.querySelector('button').addEventListener('click', () => {})</script>"


@pytest.fixture(scope="module")
def web() -> Generator[Viewing]:
    with viewing() as running:
        yield running


def framed(web: Viewing, origin: str, inner: str, title: str = "Payment") -> str:
    """Return a page with a frame that shows `inner`."""
    where = page(inner) if origin == "same" else f"http://localhost:{web.site.port}{page(inner)}"
    return f'<title>Shop</title><h1>Shop</h1><p style="height:40px"></p><iframe title="{title}" width=500 height=300 src="{where}"></iframe>'


@pytest.mark.parametrize("origin", ["same", "other"])
def test_what_is_in_a_frame_can_be_acted_on(web: Viewing, origin: str) -> None:
    web.show(
        framed(web, origin, CARD + LISTENING)
        + "<div id=x>Open</div><script>x.addEventListener('click', () => {})</script>"
    )
    elements = web.elements()

    assert elements.pop("other_open").label == "Open"
    assert list(elements) == ["frame_payment.input_card_number", "frame_payment.button_pay"]
    assert elements["frame_payment.input_card_number"].value == "********"
    assert web.at("frame_payment.button_pay", "e => e.textContent") == "Pay"
    box = elements["frame_payment.button_pay"].box
    hit = "([x, y]) => document.elementFromPoint(x, y).localName"
    assert box is not None
    assert web.run(f"({hit})([{box.x + 3}, {box.y + 3}])") == "iframe"


def test_a_frame_in_a_frame_is_looked_into(web: Viewing) -> None:
    web.show(framed(web, "other", framed(web, "same", CARD, "Inner"), "Outer"))

    assert web.at("frame_outer.frame_inner.button_pay", "e => e.textContent") == "Pay"


def test_ids_in_a_frame_last_when_the_frame_is_drawn_again(web: Viewing) -> None:
    web.show(framed(web, "same", CARD))
    before = web.labels()
    web.run("document.querySelector('h1').after(document.createElement('hr'))")
    web.run(
        "new Promise((done) => { const f = document.querySelector('iframe'); f.onload = done; f.src += '&again=1'; })"
    )

    assert web.labels() == before


def test_an_element_of_a_frame_that_is_gone_is_not_found(web: Viewing) -> None:
    web.show(framed(web, "other", CARD))
    web.elements()
    web.run("document.querySelector('iframe').remove()")
    with pytest.raises(FaultError) as caught:
        web.at("frame_payment.button_pay", "e => e")

    assert caught.value.fault.code is Code.ELEMENT_NOT_FOUND


def test_a_frame_that_never_answers_hides_nothing_else(web: Viewing) -> None:
    web.show(
        f"<button>Go</button><iframe width=200 height=200 src='http://localhost:{web.site.port}{page('late', ms=30_000)}'></iframe>"
    )

    assert "button_go" in web.elements()


def test_a_frame_that_is_covered_or_hidden_is_told_so(web: Viewing) -> None:
    web.show(framed(web, "same", CARD) + "<div style='position:fixed;inset:0;background:#fff'></div>")

    assert web.elements() == {}


def test_the_longest_id_is_one_that_the_tools_take(web: Viewing) -> None:
    long = "a very long name of something " * 9
    rows = f"<section aria-label='{long}'><ul><li><b>{long}</b><button>{long}</button></li></ul></section>" * 2
    inner = f"{rows}<nav aria-label='{long}'><button>{long}</button></nav>"
    web.show(framed(web, "same", framed(web, "same", framed(web, "same", inner, long), long), long))
    names = list(web.elements())

    assert len(names) == 3
    assert all(name.count(".") == 3 for name in names)
    assert max(map(len, names)) <= 200


@pytest.mark.parametrize("listens", ["document", "document.body", "document.querySelector('main')"])
def test_a_frame_that_listens_for_clicks_is_read(web: Viewing, listens: str) -> None:
    web.show(
        framed(web, "same", f"<main><p><button>Buy</button></main><script>{listens}.onclick = () => {{}}</script>")
    )

    assert web.labels() == {"frame_payment.button_buy": "Buy"}
    assert web.at("frame_payment.button_buy", "element => element.textContent") == "Buy"
