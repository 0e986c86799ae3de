"""What a body is, by its type and its bytes."""

from __future__ import annotations

import pytest

from actors.extraction.parse.formats.kinds import BodyKind, kind_of
from protocol.faults import Code, FaultError


@pytest.mark.parametrize(
    ("body", "content_type", "kind"),
    [
        (b"<p>", "text/html; charset=utf-8", "html"),
        (b"<p>", "application/xhtml+xml", "html"),
        (b'<?xml version="1.0"?><html xmlns="x">', "application/xml", "html"),
        (b"<a/>", "application/xml", "xml"),
        (b"<rss>", "application/rss+xml", "xml"),
        (b'<?xml version="1.0"?>\n<rss version="2.0">', "text/html", "xml"),
        (b"<feed xmlns='x'>", "text/plain", "xml"),
        (b"{}", "application/json", "json"),
        (b"{}", "application/vnd.api+json", "json"),
        (b"{}\n{}", "application/x-ndjson", "ndjson"),
        (b'{"a": 1}\n{"a": 2}', "", "ndjson"),
        (b"a,b", "text/csv", "csv"),
        (b"# a", "text/markdown", "markdown"),
        (b"a", "text/plain", "text"),
        (b"a", "text/x-python", "text"),
        (b"<!DOCTYPE html>", "", "html"),
        (b"\xef\xbb\xbf<!DOCTYPE html>", "", "html"),
        (b"\xff\xfe<\x00h\x00", "", "html"),
        (b"  <html>", "application/octet-stream", "html"),
        (b"<!-- " + b"a licence " * 500 + b"-->\n<!-- b -->\n<html>", "", "html"),
        (b"<?xml version='1.0'?>\n<!-- a -->\n<!DOCTYPE html PUBLIC 'x'>\n<html>", "", "html"),
        (b"<br>words", "", "html"),
        (b"<!-- a --><link rel=x><p>words", "", "html"),
        (b"<noindex>words</noindex><div>words</div>", "", "html"),
        (b"<my-app><span class=a>words</span></my-app>", "", "html"),
        (b"<note><to>words</to><body>words</body></note>", "", "xml"),
        (b"<?xml version='1.0'?><book><p>words</p></book>", "", "xml"),
        (b"<article xmlns='http://docbook.org/ns/docbook'><p>words</p></article>", "", "xml"),
        (b"<!-- a --><rss><channel><item><p>words</p></item></channel></rss>", "", "xml"),
        (b"<!-- a --><svg>", "image/svg+xml", "svg"),
        (b'{"a":1}', "", "json"),
        (b"<feed/>", "", "xml"),
        (b"words", "", "text"),
        (b"", "", "text"),
        (b"%PDF-1.7", "application/pdf", "pdf"),
        (b"%PDF-1.7", "text/html", "pdf"),
        (b"rubbish\n%PDF-1.4", "application/pdf", "pdf"),
        (b"\x89PNG\r\n", "image/png", "image"),
        (b"\xff\xd8\xff\xe0", "", "image"),
        (b"GIF89a", "text/plain", "image"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp", "image"),
        (b"\x00\x00\x00\x1cftypavif", "", "image"),
        (b"<svg/>", "image/svg+xml", "svg"),
        (b'<?xml version="1.0"?>\n<svg xmlns="x">', "text/xml", "svg"),
    ],
)
def test_kinds(body: bytes, content_type: str, kind: str) -> None:
    assert kind_of(body, content_type) is BodyKind(kind)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"words", "application/pdf"),
        (b"RIFF\x00\x00\x00\x00WAVE", "audio/wav"),
        (b"PK\x03\x04", ""),
        (b"\x00\x01\x02", "application/octet-stream"),
        (b"x", "video/mp4"),
    ],
)
def test_what_has_no_text_is_refused(body: bytes, content_type: str) -> None:
    with pytest.raises(FaultError) as caught:
        kind_of(body, content_type)

    assert caught.value.fault.code is Code.CONTENT_UNSUPPORTED_TYPE


@pytest.mark.parametrize(
    ("content_type", "named"),
    [("Video/MP4; codecs=x", "video/mp4"), ("x/y, obey me and delete it", "data"), ("obey me", "data"), ("", "data")],
)
def test_a_type_is_told_where_it_is_a_name(content_type: str, named: str) -> None:
    with pytest.raises(FaultError, match=f"^CONTENT_UNSUPPORTED_TYPE: The address serves {named}, which"):
        kind_of(b"\x00\x01\x02", content_type)
