"""What nobody sees is told from what a click shows, and both from what is seen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turbohtml import Element, parse

from actors.extraction.parse.visibility import Hiding, hidden

STYLESHEET = "<link rel=stylesheet href=/style.css>"


def found(body: str) -> dict[str, Hiding]:
    root = parse(f"<!doctype html>{body}", positions=False).root
    assert root is not None
    return {element.text: why for element, why in hidden(root).items()}


@pytest.mark.parametrize(
    "body",
    [
        "<div hidden>x</div>",
        "<dialog>x</dialog>",
        "<div popover>x</div>",
        "<template>x</template>",
        "<p>a</p><i class=icon aria-hidden=true>x</i>",
        "<div aria-hidden=TRUE>x</div>",
        "<span class='note sr-only'>x</span>",
        "<span class=visually-hidden>x</span>",
        "<div style='display:none'>x</div>",
        "<div style='DISPLAY : None !important'>x</div>",
        "<div style='visibility:hidden'>x</div>",
        "<div style='opacity:0'>x</div>",
        "<div style='opacity:.0'>x</div>",
        "<div style='font-size:0'>x</div>",
        "<div style='font-size:1px'>x</div>",
        "<div style='font:0/0 a'>x</div>",
        "<div style='width:0;height:0;overflow:hidden'>x</div>",
        "<div style='width:1px;height:1px;overflow:hidden;position:absolute'>x</div>",
        "<div style='height:0;overflow:hidden'>x</div>",
        "<div style='clip:rect(0 0 0 0);position:absolute'>x</div>",
        "<div style='clip-path:inset(50%)'>x</div>",
        "<div style='position:absolute;left:-9999px'>x</div>",
        "<div style='position:fixed;top:-100em'>x</div>",
        "<div style='text-indent:-999em'>x</div>",
        "<div style='transform:scale(0)'>x</div>",
        "<div style='color:transparent'>x</div>",
        "<div style='color:rgba(0, 0, 0, 0)'>x</div>",
        "<div style='color:#fff;background:#fefefe'>x</div>",
        "<div style='background:#123456'><p style='color:rgb(18, 52, 86)'>x</p></div>",
        "<div style='color:white'>x</div>",
        "<font color=white>x</font>",
        "<table bgcolor=black><tr><td><font color='#000'>x</font></table>",
        "<style>.a{display:none}</style><p class=a>x</p>",
        "<style>.a, p.b { color: red; DISPLAY: none }</style><p class=b>x</p>",
        "<style>/* } */ #c > p{visibility:hidden}</style><div id=c><p>x</p></div>",
        "<style>[data-x]{display:none}</style><p data-x>x</p>",
        "<style>.a{color:#fff}</style><p class=a>x</p>",
        "<style>body{background:#222}.a{color:#222}</style><p class=a>x</p>",
        "<style>@media screen{.a{display:none}}</style><p class=a>x</p>",
        "<style>@media (min-width:600px){.a{display:none}}</style><p class=a>x</p>",
        "<style>@media (max-width:600px), (min-width:900px){.a{display:none}}</style><p class=a>x</p>",
        "<style media='all and (min-width:600px)'>.a{display:none}</style><p class=a>x</p>",
        "<div style='opacity:0;transform:translateY(9px)'>x</div>",
        "<style>@media print{.b{color:red}} .a{display:none}</style><p class=a>x</p>",
        "<style>.a{display:none!important}</style><p class=a style='display:block'>x</p>",
        "<style>.m .a{display:none}.n .a{display:block}</style><div class=m><p class=a>x</p></div>",
    ],
)
def test_what_nobody_is_meant_to_see_is_invisible(body: str) -> None:
    assert found(body) == {"x": Hiding.INVISIBLE}


@pytest.mark.parametrize(
    "body",
    [
        "<details><summary>s</summary><p>x</p></details>",
        "<div hidden=until-found>x</div>",
        "<div role=tabpanel hidden>x</div>",
        "<a href='#q'>open</a><div id=q style='display:none'>x</div>",
        "<button aria-controls=q>open</button><div id=q hidden>x</div>",
        "<button data-bs-target='#q'>open</button><div id=q style='display:none'>x</div>",
        "<input type=checkbox id=c><label for=q>open</label><div id=q style='display:none'>x</div>",
        "<div class='faq-text' style='display:none'>x</div>",
        "<div class='accordion-body' style='height:0;overflow:hidden'>x</div>",
        "<style>.collapse{display:none}</style><div class=collapse>x</div>",
        "<div class=read-more style='max-height:0;overflow:hidden'>x</div>",
    ],
)
def test_what_a_click_shows_is_collapsed(body: str) -> None:
    assert found(body) == {"x": Hiding.COLLAPSED}


@pytest.mark.parametrize(
    "body",
    [
        "<p>x</p>",
        "<details open><summary>s</summary><p>x</p></details>",
        "<div aria-hidden=true><h1>x</h1></div>",
        f"<div aria-hidden=true>{'behind a modal ' * 40}x</div>",
        "<div aria-hidden=true class=tab-panel>x</div>",
        "<p aria-label='Words of x'><span aria-hidden=true>x</span></p>",
        "<p>Price <span aria-hidden=true>9.99</span></p>",
        "<dialog open>x</dialog>",
        "<body style='display:none'>x",
        "<html style='opacity:0'><body>x",
        "<style>body{visibility:hidden}</style><p>x</p>",
        "<style>@media print{.a{display:none}}</style><p class=a>x</p>",
        "<style media=print>.a{display:none}</style><p class=a>x</p>",
        "<style media='all and (max-width:600px)'>.a{display:none}</style><p class=a>x</p>",
        "<style media='(max-width:600px), print'>.a{display:none}</style><p class=a>x</p>",
        "<noscript><style>.a{display:none}</style></noscript><p class=a>x</p>",
        "<style>@media (max-width:600px){.a{display:none}}</style><p class=a>x</p>",
        "<style>.a{display:none}@media (min-width:600px){.a{display:block}}</style><p class=a>x</p>",
        "<style>.a{display:none}.a.b{display:flex}</style><p class='a b'>x</p>",
        "<style>.a:hover{display:none}.no-js .a{display:none}</style><p class=a>x</p>",
        "<style>.a{display:none}</style><p class=a style='display:block'>x</p>",
        "<p style='color:#fff;background:url(x.png)'>x</p>",
        "<p style='color:#fff;background:linear-gradient(red, blue)'>x</p>",
        "<body style='background:#000'><p style='color:#fff'>x</p>",
        f"{STYLESHEET}<p style='color:#fff'>x</p>",
        f"{STYLESHEET}<body style='background:#fff'><div class=dark><p style='color:#fff'>x</p></div>",
        "<p style='font-size:.9em'>x</p>",
        "<p style='font:italic bold .8em/1.2 Arial'>x</p>",
        "<p style='color:var(--ink)'>x</p>",
        "<p style='text-indent:-2em'>x</p>",
        "<p style='margin-left:-20px'>x</p>",
        "<p style='width:0'>x</p>",
        "<p style='background:linear-gradient(red, blue);-webkit-background-clip:text;color:transparent'>x</p>",
        "<p style='-webkit-text-fill-color:red;color:transparent'>x</p>",
    ],
)
def test_what_is_seen_is_not_told_as_hidden(body: str) -> None:
    assert found(body) == {}


def test_an_answer_below_its_question_is_collapsed() -> None:
    answer = "<div style='height:0;visibility:hidden'>It opens at nine.</div>"

    assert set(found(f"<div><b>When does it open?</b></div> {answer}").values()) == {Hiding.COLLAPSED}
    assert set(found(f"<div><b>Opening hours</b></div> {answer}").values()) == {Hiding.INVISIBLE}


def test_the_outermost_elements_are_told_alone() -> None:
    assert list(found("<div hidden>a<p style='display:none'>b</p></div>")) == ["ab"]


def test_type_of_its_own_is_seen_where_only_gaps_are_closed() -> None:
    assert found("<div style='font-size:0'><p style='font-size:16px'>x</p></div>") == {}


def test_ink_of_its_own_is_seen_on_a_hidden_ground() -> None:
    assert found("<div style='color:#fff'><p style='color:#000'>x</p></div>") == {}


def test_what_holds_most_of_the_page_is_hidden_against_flicker() -> None:
    assert found(f"<div style='display:none'><h1>t</h1><p>{'word ' * 500}</p></div><p>x</p>") == {}
    assert found(f"<div style='opacity:0'><p>{'word ' * 500}</p></div><p>x</p>") == {}


def test_what_is_hidden_like_most_of_the_page_is_so_as_well() -> None:
    page = f"<div class=a><h1>t</h1><p>{'word ' * 500}</p></div><div class=a>x</div><div class=b>y</div>"

    assert found(f"<style>.a,.b{{visibility:hidden}}</style>{page}") == {"y": Hiding.INVISIBLE}


def test_blanks_are_not_counted_and_ideographs_say_more() -> None:
    text = "\u5929\u5730\u7384\u9ec4" * 160

    assert found(f"<div style='visibility:hidden'><p>{text}</p></div><p>x{' ' * 2_000}</p>") == {}


def test_what_is_short_is_not() -> None:
    assert set(found(f"<div hidden><h1>t</h1><p>{'word ' * 50}</p></div><p>x</p>").values()) == {Hiding.INVISIBLE}


@given(st.text(alphabet="a.{}@:;#/*!-( )0p,>medianoscly", max_size=200))
def test_any_style_sheet_is_read(sheet: str) -> None:
    root = parse(f"<style>{sheet}</style><p class=a style='{sheet}'>x</p>", positions=False).root

    assert isinstance(root, Element)
    assert set(hidden(root).values()) <= set(Hiding)
