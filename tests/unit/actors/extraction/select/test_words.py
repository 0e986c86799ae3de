"""The words of an element on one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.extraction.parse.addresses import absolute, joined, on_the_web
from actors.extraction.parse.text import clean, one_line
from actors.extraction.select.words import words
from tests.support.whole_page import parsed


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("plain  text\n here", "plain text here"),
        ("<p>one</p><p>two</p>three<br>four", "one two three four"),
        ("un<b>brok</b>en <i>wo<wbr>rd</i>", "unbroken word"),
        ("a<script>x</script><style>y</style><svg><text>z</text></svg>b", "ab"),
        ("a<noscript>x</noscript><template>y</template><textarea>z</textarea>b", "ab"),
        ("seen<span hidden>secret</span>", "seen"),
        ("zero\u200bwidth\u00ad and\u202e turned", "zerowidth and turned"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("x<sup>2</sup> H<sub>2</sub>O 10<sup>-6</sup> 1<sup>st</sup>", "x² H₂O 10⁻⁶ 1st"),
        ("fact<sup><a href='#n1'>1</a></sup> claim<sup>[2]</sup> star<sup>*</sup>", "fact claim star"),
        ("<ruby>漢<rt>kan</rt></ruby>", "漢"),
        ("", ""),
    ],
)
def test_words_are_read_as_they_are_seen(body: str, expected: str) -> None:
    page = parsed(f"<div id=here>{body}</div>")
    element = page.root.select_one("#here")
    assert element is not None

    assert words(element, page.hidden, 200) == expected


def test_a_long_text_is_cut() -> None:
    page = parsed(f"<div id=here>{'<b>word</b> ' * 50_000}</div>")
    element = page.root.select_one("#here")
    assert element is not None

    text = words(element, page.hidden, 50)

    assert (len(text), text[-1]) == (50, "…")


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_a_line_is_clean_and_short(text: str, limit: int) -> None:
    line = one_line(text, limit)

    assert len(line) <= limit
    assert line == " ".join(line.split())
    assert clean(line) == line


@pytest.mark.parametrize(
    "href",
    [
        "https://other.example/a?b=c#d",
        "/a/b?c=d",
        "/",
        "a/b",
        "../x",
        "/a/../b",
        "?q=1",
        "//other.example/x",
        "mailto:a@b.example",
    ],
)
def test_links_are_joined_as_everywhere(href: str) -> None:
    base = "https://site.example:8080/dir/page.html?x=y"

    assert joined(base, href) == absolute(base, href)


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        (" /a b ", "https://site.example/a%20b"),
        ("/a\tb\nc", "https://site.example/abc"),
        ("HTTPS://other.example/X", "https://other.example/X"),
        ("#part", ""),
        ("javascript:x", ""),
        ("data:text/html,x", ""),
        ("mailto:a@b.example", ""),
        ("http://[bad", ""),
        ("", ""),
    ],
)
def test_addresses_of_the_web(href: str, expected: str) -> None:
    assert on_the_web("https://site.example/", href) == expected
