"""What comes out of a whole page: words, fields, links, data, and what stands in the way."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from actors.extraction.extraction import Extraction
from actors.extraction.page import extract, extract_html, unjudged_content
from actors.fetchers.script_engine import evaluate
from protocol.confidence import Source
from protocol.documents import ExtractedTable, Signal
from protocol.page import Crumb, FeedLink, Form, FormField, Heading, PageType
from tests.support.scale import sized

PAGES = Path(__file__).parents[3] / "site" / "pages"
URL = "https://notes.example/loom/"


def page(name: str) -> Extraction:
    return extract((PAGES / name).read_bytes(), "text/html", URL)


def test_an_article() -> None:
    found = page("article.html")

    summary = found.summary
    assert "Before a single row of cloth" in summary.markdown
    assert "## What can go wrong\n\n- Two threads are crossed" in summary.markdown
    assert "[shuttle](https://notes.example/notes/shuttle)" in summary.markdown
    assert "All notes" not in summary.markdown
    assert (summary.title, summary.language, summary.signals) == ("How a loom is warped", "en", ())
    assert [link.url for link in summary.extracted_links] == ["https://notes.example/notes/shuttle"]
    assert [link.text for link in summary.parts.navigation] == ["Home", "All notes"]
    assert summary.parts.fields.page_type is PageType.ARTICLE
    assert summary.parts.fields.outline[-1] == Heading(level=2, text="What can go wrong")
    assert (found.evidence.semantic, found.evidence.scripts) == (("main", "article"), 1)
    assert found.content.score > 0.8
    assert found.title.score > 0.8


def test_plain_text_has_no_link_in_it() -> None:
    text = str(page("article.html").summary.text)

    assert ("through it the shuttle carries" in text, "](" in text) == (True, False)


def test_hidden_words_are_left_out_and_counted() -> None:
    found = page("hidden.html")

    assert "IGNORE" not in repr(found.summary)
    assert "A word with a zero width space, a turned one and a tag end the visible part." in found.summary.markdown
    assert found.summary.parts.left_out["invisible texts"] > 0


@pytest.mark.parametrize(
    ("name", "incomplete", "challenge", "signals"),
    [
        ("spa.html", ("empty_root", "enable_javascript"), (), {Signal.SPARSE_TEXT, Signal.SCRIPT_REQUIRED}),
        (
            "challenge.html",
            ("empty_main", "enable_javascript"),
            ("cf-chl", "challenge-platform", "cloudflare", "just a moment"),
            {Signal.CAPTCHA_OR_ROBOT_CHECK, Signal.SPARSE_TEXT, Signal.SCRIPT_REQUIRED},
        ),
        ("login.html", (), (), {Signal.PAYWALL_OR_LOGIN, Signal.SPARSE_TEXT}),
        ("soft404.html", (), (), {Signal.SPARSE_TEXT}),
    ],
)
def test_pages_that_are_none(
    name: str, incomplete: tuple[str, ...], challenge: tuple[str, ...], signals: set[Signal]
) -> None:
    found = page(name)

    assert (found.evidence.incomplete, found.evidence.challenge) == (incomplete, challenge)
    assert set(found.summary.signals) == signals
    assert found.evidence.login_form == (name == "login.html")
    assert unjudged_content(found).score <= 0.1


def test_no_text_is_no_content() -> None:
    found = extract_html("<html><body><div id=root></div><script src=app.js></script></body></html>", URL)

    assert (found.summary.markdown, found.content.score) == ("", 0.0)


SHOP = """<!doctype html><html lang="en"><head><title>Table loom - Weavers' Shop</title>
<meta property="og:title" content="Table loom"><meta name="description" content="A small loom for a table.">
<link rel="canonical" href="/looms/table"><link rel="alternate" type="application/rss+xml" href="/feed" title="News">
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Product", "name": "Table loom",
"brand": {"@type": "Brand", "name": "Ashgrove"}, "sku": "TL-8", "offers": {"@type": "Offer", "price": "249.00",
"priceCurrency": "EUR", "availability": "https://schema.org/InStock"}}</script></head><body>
<nav aria-label="breadcrumb"><a href="/">Home</a> <a href="/looms">Looms</a> Table loom</nav>
<main><h1>Table loom</h1><p>A small loom with eight shafts that folds away in a minute. It weaves cloth of up to sixty
centimetres, stands on any table, and comes with a reed of forty dents and two shuttles made of maple.</p>
<table><caption>Looms</caption><tr><th>Width</th><th>Shafts</th></tr><tr><td>40 cm</td><td>4</td></tr>
<tr><td>60 cm</td><td>8</td></tr></table>
<form action="/cart" method="post"><input type="hidden" name="token" value="s3cret"><label>Pieces
<input name="pieces" type="number" required></label><button>Add to cart</button></form></main></body></html>"""


def test_what_a_page_says_beside_its_words() -> None:
    found = extract_html(SHOP, "https://shop.example/looms/table?from=mail")

    fields = found.summary.parts.fields
    assert found.summary.title == "Table loom"
    assert (fields.description, fields.canonical_url) == (
        "A small loom for a table.",
        "https://shop.example/looms/table",
    )
    assert fields.feeds == (FeedLink(url="https://shop.example/feed", type="application/rss+xml", title="News"),)
    assert fields.breadcrumb[:2] == (
        Crumb(name="Home", url="https://shop.example/"),
        Crumb(name="Looms", url="https://shop.example/looms"),
    )
    assert fields.product
    assert (fields.product.price, fields.product.currency, fields.product.availability, fields.product.brand) == (
        "249",
        "EUR",
        "InStock",
        "Ashgrove",
    )
    assert found.summary.tables == (
        ExtractedTable(headers=("Width", "Shafts"), rows=(("40 cm", "4"), ("60 cm", "8")), caption="Looms"),
    )
    pieces = FormField(name="pieces", type="number", label="Pieces", required=True)
    assert found.summary.parts.forms == (
        Form(
            action="https://shop.example/cart", method="POST", fields=(FormField(name="token", type="hidden"), pieces)
        ),
    )
    assert "s3cret" not in repr(found)
    assert [item.type for item in found.summary.parts.structured][:1] == ["Product"]


def test_every_field_says_how_sure_it_is() -> None:
    found = extract_html(SHOP, "https://shop.example/looms/table")

    named = {"description", "canonicalUrl", "feeds", "breadcrumb", "language", "product.price", "pageType"}
    assert named <= set(found.fields)
    assert all(0 < sure.score <= 1 and sure.source is not Source.UNKNOWN for sure in found.fields.values())


def test_the_ways_that_were_tried_are_told() -> None:
    found = page("article.html")

    assert [row.selected for row in found.selectors].count(True) == 1
    assert all(row.skip_reason for row in found.selectors if not row.selected)
    assert [row.value for row in found.titles if row.selected][:1] == ["How a loom is warped"]
    assert all(row.skip_reason for row in found.titles if not row.selected)


def test_titles_that_disagree_are_less_sure() -> None:
    text = "<p>" + "The warp is what the weft goes through, over and under, one row after another. " * 6
    head = "<title>Warps and wefts</title><meta property=og:title content='{}'><h1>Warps and wefts</h1>"

    agreed = extract_html(head.format("Warps and wefts") + text, URL)
    disputed = extract_html(head.format("Seven ways to dye wool") + text, URL)

    assert disputed.title.score < agreed.title.score
    assert "Seven ways to dye wool" in {row.value for row in disputed.titles}


def test_content_that_only_a_state_holds_is_found() -> None:
    story = " ".join(f"Row {number} of the cloth was woven in an hour, and it was even." for number in range(30))
    state = f'{{"props": {{"pageProps": {{"story": {{"title": "Cloth", "body": "{story}"}}}}}}}}'
    html = f"<title>Cloth</title><div id=__next></div><script id=__NEXT_DATA__ type=application/json>{state}</script>"

    found = extract_html(html, URL)

    assert "Row 7 of the cloth was woven" in found.summary.markdown
    assert found.content.source is Source.FRAMEWORK_DATA


def test_content_that_only_a_function_holds_is_found_in_an_engine() -> None:
    story = " ".join(f"Row {number} of the cloth was woven in an hour, and it was even." for number in range(30))
    code = f'window.__NUXT__=(function(a,b){{return {{data:[{{title:a,body:b}}]}}}}("Cloth","{story}"));'

    found = extract_html(f"<title>Cloth</title><div id=__nuxt></div><script>{code}</script>", URL, evaluate=evaluate)

    assert "Row 7 of the cloth was woven" in found.summary.markdown


def test_the_same_page_gives_the_same_bytes() -> None:
    assert page("article.html").summary == page("article.html").summary


def test_html_only_when_asked() -> None:
    source = (
        "<main onclick=x()><p style='color:red'>a<script>1</script><a href='java\tscript:1'>b</a>"
        "<img src=x onerror=1></main>"
    )

    html = str(extract_html(source, URL, include_html=True).summary.html)

    assert "<p>a" in html
    assert not [word for word in ("script", "onclick", "onerror", "style") if word in html]
    assert extract_html(source, URL).summary.html is UNSET


@given(
    st.lists(st.sampled_from(["<p>", "<table><td>", "<title>", "<!--", "<a href=x>", "text "]) | st.text(), max_size=9)
)
@settings(max_examples=sized(10, 60), deadline=None)
@pytest.mark.slow
def test_no_page_is_too_broken(pieces: list[str]) -> None:
    text = "".join(piece if piece.isprintable() else "" for piece in pieces)  # what is no text at all is refused

    assert extract(text.encode("utf-8", "replace"), "text/html", URL).summary.title


@pytest.mark.parametrize("tag", ["div", "b", "span", "font", "blockquote"])
def test_a_deep_page_loses_no_words(tag: str) -> None:
    found = extract_html(f"<body>{f'<{tag}>' * 400}deep words{f'</{tag}>' * 400}<p>tail", URL)

    assert "deep words" in str(found.summary.text)


SIZES = "<label>Size: <select><option value=''>Any<option>38<option>39<option disabled>40</select></label>"
RADIOS = "".join(f"<input type=radio name=c value={colour}>" for colour in ("Red", "Blue"))
COLOURS = f"<fieldset><legend>Colour</legend>{RADIOS}</fieldset>"
NUMBER = "<label for=n>Number</label><select id=n><option>1<option>2<option>3</select>"
LANDS = "".join(f"<option>Land {at}" for at in range(99))
COUNTRIES = f"<label for=l>Ship to</label><select id=l>{LANDS}</select>"
SHOE = """<title>Felt shoe</title>
<script type=application/ld+json>{"@context": "https://schema.org", "@type": "Product", "name": "Felt shoe",
"offers": {"price": "59", "priceCurrency": "EUR"}}</script>
<main><h1>Felt shoe</h1><p>Felted from the wool of mountain sheep and sewn by hand, it keeps a foot warm on stone.</p>
<form>%s</form>
<h2>Care</h2><p>Brush it once it is dry, and let nobody put it into a machine that turns and heats.</p></main>
<aside><form><label>Currency <select><option>EUR<option>USD</select></label></form></aside>"""
CHOSEN = "- Size: 38, 39\n- Colour: Red, Blue\n\nNumber"


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (f"{SIZES}{COLOURS}{NUMBER}{COUNTRIES}<button>Add to cart</button>", CHOSEN),
        (f"{SIZES}<button>Send</button>", None),
        (f"{NUMBER}<button>Add to cart</button>", None),
    ],
    ids=["of goods", "of another form", "of how many"],
)
def test_what_can_be_chosen_of_goods_stands_where_their_form_is(form: str, expected: str | None) -> None:
    markdown = extract_html(SHOE % form, URL).summary.markdown

    assert "EUR, USD" not in markdown
    assert (expected in markdown) if expected else "- " not in markdown


def test_nothing_that_nobody_sees_comes_with_what_is_said() -> None:
    unseen = "\x1b\u202e\u200b\U000e0041\U000e0042"
    marked = "".join(f"&#{ord(each)};" for each in unseen)
    data = {
        "@type": "Article",
        "author": {"@type": "Person", "name": f"Ada{unseen} Weaver"},
        f"key{unseen}": unseen + "a",
    }
    source = (
        f"<!doctype html><title>Looms{marked}</title><link rel=canonical href='/looms{marked}'>"
        f"<meta name=author content='Ada{marked} Weaver'><script type=application/ld+json>{json.dumps(data)}</script>"
        f"<nav><a href='/home{marked}'>Home</a></nav><main><h1>Looms</h1><p>A loom is a device that weaves cloth, and "
        f"it has <a href='/warp{marked}'>a warp</a> and a weft.<img src='/loom{marked}.png' alt='a loom{marked}'>"
        "</p></main>"
    )

    said = msgspec.json.encode(extract(source.encode(), "text/html", URL).summary).decode()

    assert [each for each in unseen if each in said or json.dumps(each)[1:-1] in said] == []
    assert "[a warp](https://notes.example/warp%1B%E2%80%AE%E2%80%8B%F3%A0%81%81%F3%A0%81%82)" in said
