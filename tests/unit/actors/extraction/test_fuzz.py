"""Bytes of strangers, broken in every way, through each parser that is written in C or calls one.

A parser may refuse what it gets, by a fault; it may not crash, raise anything else, or go on without end. What crashes
takes the worker with it, which no run of the tests passes over.
"""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from actors.extraction.page import extract
from actors.web.codings import CodingWatch
from protocol.faults import FaultError
from tests.support.pdf import Sheet, pdf
from tests.support.scale import one_in, sized

EXAMPLES = sized(60, 2_000)
URL = "https://loom.example/page"
MAX_UNPACKED = 1_000_000
HTML = (
    b"<!doctype html><html lang=en><head><meta charset=utf-8><title>A loom</title><style>p{display:none}</style>"
    b'<script type="application/ld+json">{"@type":"Article","headline":"A loom","author":[{"name":"Ada"}]}</script>'
    b"<script>window.__STATE__ = {price: 3.5, list: [1, 'a', undefined]}</script></head><body><table><tr><th>a<td>1"
    b"</table><svg><math><mi>x</mi></math></svg><form><input name=q></form>"
    b"<p>Thread \xc3\xa4 of the warp.</body></html>"
)
FEED = b'<?xml version="1.0"?><rss version="2.0"><channel><title>A</title><item><title>B</title></item></channel></rss>'
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><title>A loom</title><text x="1">warp</text></svg>'


def image(form: str) -> bytes:
    """Return a small image with a word about itself."""
    data = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(data, form)
    return data.getvalue()


SEEDS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "html": ("text/html", lambda: HTML),
    "xml": ("application/rss+xml", lambda: FEED),
    "svg": ("image/svg+xml", lambda: SVG),
    "json": ("application/json", lambda: b'{"a": [1, 2.5e300, "\\u00e4", null, {"b": true}]}'),
    "csv": ("text/csv", lambda: b'a,b\n1,"two, three"\n4,5\n'),
    "pdf": ("application/pdf", lambda: pdf([Sheet().words("Thread of the warp", 72, 72)])),
    "png": ("image/png", lambda: image("PNG")),
    "jpeg": ("image/jpeg", lambda: image("JPEG")),
    "gif": ("image/gif", lambda: image("GIF")),
    "webp": ("image/webp", lambda: image("WEBP")),
}
CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": import_module("brotli").compress,
    "zstd": import_module("backports.zstd" if sys.version_info < (3, 14) else "compression.zstd").compress,
}

cuts = st.tuples(st.floats(0, 1), st.integers(0, 16), st.binary(max_size=16))
broken = st.lists(cuts, min_size=1, max_size=6)
"""Where bytes are taken out, how many, and what is put in their place."""

bounded = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=(HealthCheck.too_slow,))


def break_up(seed: bytes, changes: list[tuple[float, int, bytes]]) -> bytes:
    """Return the bytes with these changes."""
    data = bytearray(seed)
    for place, count, put in changes:
        at = int(place * len(data))
        data[at : at + count] = put
    return bytes(data)


@pytest.mark.parametrize("kind", one_in(3, SEEDS))
@bounded
@given(changes=broken)
@pytest.mark.slow
def test_no_reader_does_more_than_refuse(kind: str, changes: list[tuple[float, int, bytes]]) -> None:
    content_type, make = SEEDS[kind]

    with suppress(FaultError):
        extract(break_up(make(), changes), content_type, URL)


@pytest.mark.parametrize("coding", CODINGS)
@bounded
@given(changes=broken)
def test_no_coding_does_more_than_refuse(coding: str, changes: list[tuple[float, int, bytes]]) -> None:
    watch = CodingWatch([(b"content-encoding", coding.encode())], MAX_UNPACKED)

    with suppress(httpx2.DecodingError):
        watch.feed(break_up(CODINGS[coding](HTML * 20), changes))
