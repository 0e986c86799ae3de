"""What is rendered holds the allow-list, whatever it was written as."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.safe_html import SCHEMES, TAGS, html_page, safe_html, sanitized, tree_html
from protocol.render import Doc, Heading, Link, Paragraph, Text
from tests.requirements import requirement

PIECES = (
    *("<", ">", '"', "'", "&", "`", "](", "[x", "![", "\n", "\n\n", "|", "---", "#", "> ", "    ", "\\", "\t", "\x00"),
    *("<script>", "</script>", "<img src=x onerror=p()>", "<svg/onload=p()>", "<style>", "<!--", "-->", "<![CDATA["),
    *("javascript:p()", "JaVaScRiPt&colon;p()", "data:text/html,<script>p()</script>", "vbscript:p", "//evil.example"),
    *("https://good.example/", "mailto:a@b.example", "&#106;avascript:", "&lt;", "<math><mtext>", "<table><td>", "é漢"),
    *("<a href=", "<iframe srcdoc=", "<form action=", "<base href=", "<noscript>", "<template>", "<xmp>", "|a|\n|-|\n"),
)


class Held(HTMLParser):
    """Collects what does not hold the allow-list."""

    def __init__(self) -> None:
        super().__init__()
        self.breaches: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag not in TAGS:
            self.breaches.append(tag)
        if not set(given) <= ({"href", "rel", "target"} if tag == "a" else set()):
            self.breaches.append(f"{tag} {sorted(given)}")
        if "href" in given and (given["href"] or "").partition(":")[0].lower() not in SCHEMES:
            self.breaches.append(str(given["href"]))
        if tag == "a" and (given.get("rel"), given.get("target")) != ("noopener noreferrer", "_blank"):
            self.breaches.append("a link that tells where from")


def breaches(html: str) -> list[str]:
    held = Held()
    held.feed(html)
    held.close()
    return held.breaches


@requirement("003.safety.html")
def test_markdown_becomes_html_with_its_tables_and_without_html_of_others() -> None:
    rendered = safe_html(
        "# A <b>*b*</b>\n\n| n | v |\n|:--|--:|\n| 1 | [x](https://a.example/?q=1&r=2) |\n\n"
        "![alt](https://a.example/p.png) [rel](/api/keys) [js](javascript:p()) <javascript:p()> <https://b.example>"
    )

    assert rendered == (
        "<h1>A &lt;b&gt;<em>b</em>&lt;/b&gt;</h1>\n"
        "<table>\n<thead>\n<tr>\n<th>n</th>\n<th>v</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n"
        '<td><a href="https://a.example/?q=1&amp;r=2" target="_blank" rel="noopener noreferrer">x</a></td>\n'
        "</tr>\n</tbody>\n</table>\n"
        '<p>alt <a target="_blank" rel="noopener noreferrer">rel</a> [js](javascript:p()) &lt;javascript:p()&gt; '
        '<a href="https://b.example" target="_blank" rel="noopener noreferrer">https://b.example</a></p>\n'
    )


def test_a_tree_goes_the_same_way() -> None:
    link = Link(href="javascript:p()", children=(Text(text="here"),))
    tree = Doc(children=(Heading(level=2, children=(Text(text="<i>T"),)), Paragraph(children=(link,))))

    assert tree_html(tree) == "<h2>&lt;i&gt;T</h2>\n<p>[here](&lt;javascript:p()&gt;)</p>\n"


def test_a_page_of_its_own_loads_and_runs_nothing() -> None:
    page = html_page('</title><script>p("x")</script>', "words")

    assert "<script" not in page
    assert "default-src 'none'" in page
    assert page.endswith("<p>words</p>\n</body></html>\n")


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=24).map("".join))
def test_nothing_passes_but_the_allow_list(text: str) -> None:
    assert breaches(safe_html(text)) == []
    assert breaches(sanitized(text)) == []


@pytest.mark.parametrize("text", ["[" * 5_000, "> " * 5_000, "*a " * 5_000, "<a " * 5_000, "|" * 5_000, "`" * 5_001])
def test_what_nests_without_end_is_rendered(text: str) -> None:
    assert breaches(safe_html(text)) == []
