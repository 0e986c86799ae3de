"""What is no HTML gets the shape of a page."""

from __future__ import annotations

import json
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.extraction.documents import read_text
from actors.extraction.parse.formats.document import MAX_CHARS, ParsedDocument
from actors.extraction.parse.formats.kinds import BodyKind
from protocol.confidence import Source
from protocol.documents import ExtractedLink, ExtractedTable
from protocol.page import Heading, PageFields

URL = "https://a.example/notes/loom.txt"


def test_json() -> None:
    found = read_text(BodyKind.JSON, '{"title":"Threads","description":"All of them","n":[1]}', URL)

    pretty = '{\n  "title": "Threads",\n  "description": "All of them",\n  "n": [\n    1\n  ]\n}'
    assert found == ParsedDocument(
        markdown=f"```json\n{pretty}\n```",
        text=pretty,
        source=Source.API_RESPONSE,
        title="Threads",
        fields=PageFields(description="All of them"),
    )


@pytest.mark.parametrize(
    ("data", "caption"),
    [
        ([{"n": 1, "s": "a"}, {"n": 2, "s": None}], ""),
        ({"data": {"rows": [{"n": 1, "s": "a"}, {"n": 2}]}}, "data.rows"),
    ],
)
def test_lists_of_like_records_are_tables(data: object, caption: str) -> None:
    (table,) = read_text(BodyKind.JSON, json.dumps(data), URL).tables

    assert (table.headers, table.rows, table.caption or "") == (("n", "s"), (("1", "a"), ("2", "")), caption)


@pytest.mark.parametrize("data", [[1, 2], [{"a": 1}], [{"a": 1}, 2], [{"a": 1}, {"b": 1}, {"c": 1}], {}])
def test_other_lists_are_none(data: object) -> None:
    assert read_text(BodyKind.JSON, json.dumps(data), URL).tables == ()


def test_cells_hold_values_as_json_has_them() -> None:
    (table,) = read_text(BodyKind.JSON, '[{"a": true, "b": [1, {"c": 2}]}, {"a": 1.5, "b": "x"}]', URL).tables

    assert table.rows == (("true", '[1,{"c":2}]'), ("1.5", "x"))


@pytest.mark.parametrize("text", ['{"a": `', "[" * 100_000, '{"a":' * 5_000 + "1" + "}" * 5_000, ""])
def test_what_is_no_json_is_text(text: str) -> None:
    assert read_text(BodyKind.JSON, text, URL).source is Source.SELECTOR_MATCH


def test_long_json_is_cut_and_says_so() -> None:
    found = read_text(BodyKind.JSON, json.dumps(list(range(300_000))), URL)

    assert found.left_out > 0
    assert len(found.markdown) < MAX_CHARS + 100
    assert found.markdown.endswith(" more characters)*")


def test_deep_json_is_not_blown_up_by_indents() -> None:
    text = "[" * 400 + ",".join("1" * 10_000) + "]" * 400

    assert len(read_text(BodyKind.JSON, text, URL).markdown) < 2 * len(text)


@pytest.mark.parametrize("kind", [BodyKind.NDJSON, BodyKind.JSON])
def test_lines_of_json(kind: BodyKind) -> None:
    found = read_text(kind, '{"n": 1}\n\n{"n": 2}\n{"n"', URL)

    assert found.tables == (ExtractedTable(headers=("n",), rows=(("1",), ("2",))),)
    assert found.markdown == '```json\n{"n": 1}\n{"n": 2}\n{"n"\n```'


RSS = """<?xml version="1.0"?><rss xmlns:dc="x"><channel><title>Notes</title><description>On looms</description>
<language>en</language>
<item><title>One</title><link>/1</link>
<description>&lt;b&gt;bold&lt;/b&gt;&lt;script&gt;x&lt;/script&gt; words</description>
<pubDate>Mon, 01 Jan 2024 10:00:00 GMT</pubDate><dc:creator>Ann</dc:creator></item>
<item><title><![CDATA[Two & three]]></title><link>javascript:alert(1)</link></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><title>Notes</title><subtitle>On looms</subtitle>
<entry><title>One</title><link rel="self" href="/self"/><link href="/1"/>
<summary type="html">&lt;b>bold&lt;/b> words</summary>
<published>2024-01-01T10:00:00+00:00</published><author><name>Ann</name></author></entry>
<entry><title>Two &amp; three</title></entry></feed>"""
JSON_FEED = json.dumps(
    {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "Notes",
        "description": "On looms",
        "language": "en",
        "items": [
            {
                "title": "One",
                "url": "/1",
                "content_html": "<b>bold</b> words",
                "date_published": "2024-01-01T10:00:00+00:00",
                "authors": [{"name": "Ann"}],
            },
            {"title": "Two & three"},
        ],
    }
)


@pytest.mark.parametrize(
    ("kind", "feed"),
    [
        (BodyKind.XML, RSS),
        (BodyKind.XML, ATOM),
        (BodyKind.JSON, JSON_FEED),
        (BodyKind.XML, f"\n{RSS.replace('<![CDATA[Two & three]]>', 'Two & three')}"),
        (BodyKind.XML, RSS.removesuffix("</channel></rss>")),
        (BodyKind.XML, f"{RSS.removesuffix('</channel></rss>')}<item><title>Thr"),
    ],
)
def test_feeds(kind: BodyKind, feed: str) -> None:
    found = read_text(kind, feed, URL)

    assert found == ParsedDocument(
        markdown=(
            "## [One](<https://a.example/1>)\n\nAnn, 2024-01-01T10:00:00+00:00\n\n**bold** words\n\n## Two & three"
        ),
        text="One\nbold words\nTwo & three",
        source=Source.STRUCTURED_DATA,
        title="Notes",
        links=(ExtractedLink(url="https://a.example/1", text="One", context="bold words"),),
        fields=PageFields(
            description="On looms", language="en", modified="2024-01-01T10:00:00+00:00", site_name="Notes"
        ),
    )


ATOM_SUMMARY = "<summary>{}</summary>"


@pytest.mark.parametrize(
    ("summary", "markdown"),
    [
        (ATOM_SUMMARY.format(escape("<p>A <a href='/2'>link</a></p>")), "A [link](https://a.example/2)"),
        (ATOM_SUMMARY.format(escape(escape("<p>Escaped <b>twice</b></p>"))), "Escaped **twice**"),
        (ATOM_SUMMARY.format(escape("<h1>Warps</h1><ul><li>one<li onclick=x()>two</ul>")), "### Warps\n\n- one\n- two"),
        ("<summary type='text'>Use &lt;b&gt; for a &lt; b.</summary>", "Use \\<b> for a < b."),
        ("<content type='xhtml' xmlns:h='b'><h:p>Use &lt;b&gt;.</h:p><h:p>2</h:p></content>", "Use \\<b>.\n\n2"),
    ],
)
def test_the_summaries_of_a_feed_are_written_as_pages_are(summary: str, markdown: str) -> None:
    found = read_text(BodyKind.XML, f"<feed><entry><title>One</title>{summary}</entry></feed>", URL)

    assert found.markdown == f"## One\n\n{markdown}"


def test_a_long_summary_ends_with_a_whole_block() -> None:
    summary = ATOM_SUMMARY.format(escape(f"<p>{'x' * 900}</p>" * 5))

    found = read_text(BodyKind.XML, f"<feed><entry><title>One</title>{summary}</entry></feed>", URL)

    assert found.markdown == f"## One\n\n{'x' * 900}\n\n{'x' * 900}"


def test_a_site_map_is_a_list_of_links() -> None:
    found = read_text(
        BodyKind.XML, "<urlset><url><loc> https://a.example/1 </loc></url><url><loc>ftp://x</loc></url></urlset>", URL
    )

    assert found.links == (ExtractedLink(url="https://a.example/1", text="https://a.example/1"),)
    assert found.markdown.startswith("- <https://a.example/1>")


def test_other_xml_is_shown() -> None:
    assert read_text(BodyKind.XML, "<a><b>1</b></a>", URL).markdown == "```xml\n<a><b>1</b></a>\n```"


@pytest.mark.parametrize(
    "feed",
    [
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss><channel><title>&x;</title></channel></rss>',
        '<!DOCTYPE r [<!ENTITY x "root:"><!ENTITY y "&x;&x;">]><rss><channel><title>&y;</title></channel></rss>',
    ],
)
def test_no_entity_is_expanded(feed: str) -> None:
    found = read_text(BodyKind.XML, feed, URL)

    assert "root:" not in found.markdown
    assert found.title in ("&x;", "&y;")


@pytest.mark.slow
@pytest.mark.parametrize("text", ["<a>" * 200_000, "<!DOCTYPE a[" * 50_000, "&a;" * 100_000, "<rss><item>" * 20_000])
def test_hostile_xml_is_text_or_nothing(text: str) -> None:
    assert isinstance(read_text(BodyKind.XML, text, URL), ParsedDocument)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv(delimiter: str) -> None:
    text = delimiter.join(["name", "n"]) + "\r\n" + delimiter.join(['"wa\n\\rp"', "1"]) + "\r\nweft\r\n"
    found = read_text(BodyKind.CSV, text, URL)

    assert found.tables == (ExtractedTable(headers=("name", "n"), rows=(("wa \\rp", "1"), ("weft", ""))),)
    assert found.markdown == "| name | n |\n| --- | --- |\n| wa \\\\rp | 1 |\n| weft |  |"


def test_a_cell_stays_text_whatever_it_looks_like() -> None:
    found = read_text(BodyKind.CSV, "a,![b](https://c.example/?d)\n<img src=x>,[e](javascript:f)\n", URL)

    assert found.markdown == (
        "| a | !\\[b\\](https://c.example/?d) |\n| --- | --- |\n| \\<img src=x\\> | \\[e\\](javascript:f) |"
    )


def test_a_long_table_is_whole_as_data_and_as_markdown() -> None:
    found = read_text(BodyKind.CSV, "n,m\n" + "1,2\n" * 20_000, URL)

    assert len(found.tables[0].rows) == 20_000
    assert found.markdown.count("\n| 1 | 2 |") == 20_000


def test_of_a_table_of_more_than_is_written_the_rows_are_counted() -> None:
    found = read_text(BodyKind.CSV, "n,m\n" + f"{'a' * 500},{'b' * 500}\n" * 2_000, URL)

    assert found.markdown.endswith("|\n\n*(2,000 rows; the first 992 are written)*")


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("See [two](../2 'x').", "See [two](https://a.example/2 'x')."),
        ("![loom](<../a loom.png>)", "![loom](https://a.example/a%20loom.png)"),
        ("[![badge](b.svg)](/ci)", "[![badge](https://a.example/b.svg)](https://a.example/ci)"),
        ("[`run`](run.md#a_(b))", "[`run`](https://a.example/run.md#a_%28b%29)"),
        ("[two][r]\n\n[r]: 2.md 'x'", "[two][r]\n\n[r]: https://a.example/2.md 'x'"),
        ("1. One\n\n    [two](2.md)", "1. One\n\n    [two](https://a.example/2.md)"),
        ("[part](#part) [mail](mailto:ann@a.example)", None),
        ("`[a](b.md)` and ``[a](`b.md)``", None),
        ("~~~\n[a](b.md)\n~~~", None),
        ("A:\n\n    [a](b.md)", None),
        ("\\[a\\](b.md)", None),
    ],
)
def test_links_of_markdown_are_made_absolute_and_code_is_left_alone(text: str, markdown: str | None) -> None:
    assert read_text(BodyKind.MARKDOWN, text, "https://a.example/1.md").markdown == (markdown or text)


def test_links_of_markdown_are_those_that_are_links() -> None:
    text = "[`run`](run.md) [![badge](b.svg)](/ci) `[a](a.md)`\n\n```\n[b](b.md)\n```\n[part](#part)"

    links = read_text(BodyKind.MARKDOWN, text, "https://a.example/1.md").links

    assert [(one.url, one.text) for one in links] == [
        ("https://a.example/run.md", "`run`"),
        ("https://a.example/ci", "badge"),
    ]


def test_markdown_is_markdown() -> None:
    text = (
        '---\ntitle: "On looms"\nauthor: Ann\ndate: 2024-01-01\nlang: en\n---\n# Looms #\n\n*old* [one](../1 "x")\n\n'
        "```sh\n# no heading\n```\n\nParts\n-----\n"
    )
    found = read_text(BodyKind.MARKDOWN, text, URL)

    body = text.partition("---\n# ")[2].replace("../1", "https://a.example/1")
    assert found == ParsedDocument(
        markdown=f"# {body}".strip(),
        text=f"# {body}".strip(),
        source=Source.STRUCTURED_DATA,
        title="On looms",
        links=(ExtractedLink(url="https://a.example/1", text="one"),),
        fields=PageFields(
            authors=("Ann",),
            published="2024-01-01T00:00:00",
            language="en",
            outline=(Heading(level=1, text="Looms"), Heading(level=2, text="Parts")),
        ),
    )


def test_the_first_heading_is_the_title_where_nothing_else_is() -> None:
    found = read_text(BodyKind.MARKDOWN, "## Parts\n\n# Looms\n", URL)

    assert (found.title, found.title_source) == ("Looms", Source.HEURISTIC)


def test_text_stays_text() -> None:
    found = read_text(BodyKind.TEXT, "# not a heading\n\n[x](javascript:1)\u200b", URL)

    assert (found.markdown, found.title) == ("\\# not a heading\n\n\\[x\\](javascript:1)", "")


@pytest.mark.parametrize(
    "text",
    ["def f(x):\n    return x\n\nprint(f(1))", "A rose is red,\nA violet blue,\nAnd so are you.", "[a]\nb = 1\nc = 2"],
)
def test_lines_that_are_the_form_of_a_text_stay_as_they_are(text: str) -> None:
    found = read_text(BodyKind.TEXT, text, URL)

    assert (found.markdown, found.text) == (f"```\n{text}\n```", text)


def test_lines_of_prose_stay_lines() -> None:
    line = "A letter that goes on for a while, and *on*, as letters do"

    assert read_text(BodyKind.TEXT, f"{line}\n{line}\n\n{line}\n", URL).markdown.splitlines() == [
        line.replace("*", "\\*")
    ] * 2 + ["", line.replace("*", "\\*")]


@given(st.sampled_from(list(BodyKind)), st.text(max_size=200))
def test_nothing_raises(kind: BodyKind, text: str) -> None:
    assert isinstance(read_text(kind, text, URL), ParsedDocument)
