"""What is no HTML becomes a page of the same shape."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.fetchers.extract.other import Kind, extract, kind_of
from protocol.confidence import Source
from protocol.documents import ExtractedLink, ExtractedTable
from protocol.faults import Code, FaultError
from protocol.pages import PageEvidence

URL = "https://a.example/notes/loom.txt"


@pytest.mark.parametrize(
    ("body", "content_type", "kind"),
    [
        (b"<p>", "text/html; charset=utf-8", "html"),
        (b"<p>", "application/xhtml+xml", "html"),
        (b'<?xml version="1.0"?><html xmlns="x">', "application/xml", "html"),
        (b"<a/>", "application/xml", "xml"),
        (b"<rss>", "application/rss+xml", "xml"),
        (b"{}", "application/json", "json"),
        (b"{}", "application/vnd.api+json", "json"),
        (b"a,b", "text/csv", "csv"),
        (b"# a", "text/markdown", "markdown"),
        (b"a", "text/plain", "text"),
        (b"a", "text/x-python", "text"),
        (b"<!DOCTYPE html>", "", "html"),
        (b"  <html>", "application/octet-stream", "html"),
        (b'{"a":1}', "", "json"),
        (b"<feed/>", "", "xml"),
        (b"words", "", "text"),
        (b"", "", "text"),
    ],
)
def test_kinds(body: bytes, content_type: str, kind: Kind) -> None:
    assert kind_of(body, content_type) == kind


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"%PDF-1.7", "application/pdf"),
        (b"%PDF-1.7", "text/html"),
        (b"\x89PNG\r\n", "image/png"),
        (b"<svg/>", "image/svg+xml"),
        (b"PK\x03\x04", ""),
        (b"\x00\x01\x02", "application/octet-stream"),
        (b"x", "video/mp4"),
    ],
)
def test_what_has_no_text_is_refused(body: bytes, content_type: str) -> None:
    with pytest.raises(FaultError) as caught:
        kind_of(body, content_type)

    assert caught.value.fault.code is Code.CONTENT_UNSUPPORTED_TYPE


def test_json() -> None:
    found = extract("json", '{"title":"Threads","n":[1]}', URL)

    assert found.summary.markdown == '```json\n{\n  "title": "Threads",\n  "n": [\n    1\n  ]\n}\n```'
    assert (found.summary.title, found.title.source, found.content.source) == (
        "Threads",
        Source.STRUCTURED_DATA,
        Source.API_RESPONSE,
    )
    assert found.evidence == PageEvidence(content_length=27, markup=False)


def test_broken_json_is_text() -> None:
    found = extract("json", '{"a": `', URL)

    assert (found.summary.markdown, found.content.source) == ('{"a": \\`', Source.SELECTOR_MATCH)


def test_text_stays_text() -> None:
    found = extract("text", "# not a heading\n\n[x](javascript:1)", URL)

    assert found.summary.markdown == "\\# not a heading\n\n\\[x\\](javascript:1)"
    assert (found.summary.title, found.title.source) == ("loom.txt", Source.FALLBACK)


def test_markdown_is_markdown() -> None:
    found = extract("markdown", "# Looms #\n\n*old*", URL)

    assert (found.summary.markdown, found.summary.title) == ("# Looms #\n\n*old*", "Looms")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv(delimiter: str) -> None:
    found = extract("csv", delimiter.join(["name", "n"]) + "\n" + delimiter.join(["wa|rp", "1"]) + "\nweft\n", URL)

    assert found.summary.tables == (ExtractedTable(headers=("name", "n"), rows=(("wa|rp", "1"), ("weft", ""))),)
    assert found.summary.markdown == "| name | n |\n| --- | --- |\n| wa\\|rp | 1 |\n| weft |  |"


RSS = """<?xml version="1.0"?><rss><channel><title>Notes</title>
<item><title>One</title><link>https://a.example/1</link><description>&lt;b&gt;bold&lt;/b&gt; words</description></item>
<item><title>Two</title><link>javascript:alert(1)</link></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Notes</title><entry><title>One</title>
<link rel="self" href="https://a.example/self"/><link href="https://a.example/1"/><summary>bold words</summary></entry>
<entry><title>Two</title></entry></feed>"""


@pytest.mark.parametrize("feed", [RSS, ATOM])
def test_feeds(feed: str) -> None:
    found = extract("xml", feed, URL)

    assert found.summary.markdown == "## [One](<https://a.example/1>)\n\nbold words\n\n## Two"
    assert (found.summary.title, found.summary.extracted_links) == (
        "Notes",
        (ExtractedLink(url="https://a.example/1", text="One", context="bold words"),),
    )


def test_other_xml_is_shown() -> None:
    assert extract("xml", "<a><b>1</b></a>", URL).summary.markdown == "```xml\n<a><b>1</b></a>\n```"


def test_entities_reach_no_file() -> None:
    feed = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss><channel><title>&x;</title></channel></rss>'

    assert "root:" not in str(extract("xml", feed, URL))


@given(st.sampled_from(["json", "xml", "csv", "markdown", "text"]), st.text(max_size=200))
def test_nothing_raises(kind: Kind, text: str) -> None:
    assert extract(kind, text, URL).evidence.markup is False
