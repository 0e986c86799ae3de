"""Headings of the main content."""

from __future__ import annotations

from actors.extraction.select.navigation import MAX_HEADINGS, outline
from protocol.page import Heading
from tests.support.whole_page import parsed, whole


def test_headings_come_in_order_without_their_anchors() -> None:
    page = parsed(
        "<header><h1>Site</h1></header><main><h1>Looms</h1><h2>Parts <a class=headerlink href=#p>¶</a></h2>"
        "<h3><a href=#f>#</a> Frame</h3><div role=heading aria-level=4>Reed<span class=mw-editsection>[edit]"
        "</span></div>"
        "<h3>In C#<a href=#c>#</a></h3>"
        "<h3><button>Heddle</button></h3><h3><button>Heddle</button></h3><h2> </h2><h2 hidden>Gone</h2></main>"
    )

    assert outline(page, whole(page, "main")) == (
        Heading(level=1, text="Looms"),
        Heading(level=2, text="Parts"),
        Heading(level=3, text="Frame"),
        Heading(level=4, text="Reed"),
        Heading(level=3, text="In C#"),
        Heading(level=3, text="Heddle"),
    )


def test_headings_of_a_strange_level() -> None:
    page = parsed("<p role=heading>a</p><p role=heading aria-level=9>b</p><p role=heading aria-level=x>c</p>")

    assert outline(page, whole(page)) == (
        Heading(level=2, text="a"),
        Heading(level=6, text="b"),
        Heading(level=2, text="c"),
    )


def test_many_headings_are_bounded() -> None:
    page = parsed("".join(f"<h2>{number} <a class=anchor href=#x>#</a></h2>" for number in range(20_000)))

    assert len(outline(page, whole(page))) == MAX_HEADINGS
