"""What the site answers, by path."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from http import HTTPStatus
from importlib import import_module
from itertools import repeat
from pathlib import Path
from typing import Protocol, cast

from tests.site.account import answer_account
from tests.site.answers import HTML, Answer, Ask, Break, Drip, Headers, Reply, text
from tests.site.apps import answer_apps, answer_corpus
from tests.site.broken import BROKEN
from tests.site.documents import DOCUMENTS
from tests.site.healing import answer_healing
from tests.site.large import prose
from tests.site.members import answer_members
from tests.site.notes import NOTES
from tests.site.rehearsed import REHEARSED
from tests.site.scripted import SCRIPTED
from tests.site.shop import answer_shop
from tests.site.stand_ins import STAND_IN_ROUTES


class _Packer(Protocol):
    def process(self, data: bytes) -> bytes: ...
    def finish(self) -> bytes: ...


class _Brotli(Protocol):
    """What is used of a module without types."""

    def compress(self, data: bytes) -> bytes: ...
    def Compressor(self, *, quality: int) -> _Packer: ...  # noqa: N802 - its name


brotli = cast("_Brotli", import_module("brotli"))

_PAGES = Path(__file__).parent / "pages"
_MIB = 1 << 20
_SENTENCES = 180
_LAST_MODIFIED = "Wed, 01 Jan 2025 10:00:00 GMT"
_ETAG = '"weft-1"'

_CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "br": brotli.compress,
    "deflate": zlib.compress,
}


def page(name: str, status: int = 200, headers: Headers = (), after_ms: int = 0) -> Reply:
    """Answer with a file of `pages/`."""
    return Reply(status, _file(name), (("Content-Type", HTML), *headers), after_ms=after_ms)


def not_found(_: Ask) -> Answer:
    """Answer 404."""
    return page("soft404.html", 404)


@cache
def _file(name: str) -> bytes:
    return (_PAGES / name).read_bytes()


def _redirect(ask: Ask) -> Answer:
    status = ask.number("status", 302)
    left = ask.rest
    if left == "loop":
        target = "/redirect/loop"
    elif left == "private":
        target = ask.query.get("to", "http://10.0.0.1/")
    elif left == "cookie":
        return Reply(status, headers=(("Location", "/cookies/echo"), ("Set-Cookie", "chain=1; Path=/")))
    else:
        target = f"/redirect/{int(left) - 1}?status={status}" if int(left) > 1 else "/article"
    return Reply(status, headers=(("Location", target),))


def _status(ask: Ask) -> Answer:
    status = int(ask.rest)
    headers: Headers = (("Retry-After", ask.query.get("after", "120")),) if status in (429, 503) else ()
    if status == 401:
        headers = (("WWW-Authenticate", 'Basic realm="notes"'),)
    return text(
        f"<html><body><h1>{status} {HTTPStatus(status).phrase}</h1></body></html>", status=status, headers=headers
    )


def _encoded(ask: Ask) -> Answer:
    coding = ask.rest
    pack = _CODINGS[coding]
    body = pack(_file("article.html"))
    body = body[: len(body) // 2] if ask.query.get("half") else body
    return Reply(200, body, (("Content-Type", HTML), ("Content-Encoding", coding)))


def _bomb(ask: Ask) -> Answer:
    coding, size = ask.rest or "gzip", ask.number("mib", 1_024)
    chunks = _deflated(size) if coding == "gzip" else _brotlied(size)
    kind = ask.query.get("type", HTML)
    return Reply(200, headers=(("Content-Type", kind), ("Content-Encoding", coding)), chunks=chunks)


def _endless(ask: Ask) -> Answer:
    """Answer with a body that never ends."""
    piece = b"<p>And again, and again.</p>\n" * 3_000
    return Reply(200, headers=(("Content-Type", ask.query.get("type", HTML)),), chunks=repeat(piece))


def _deflated(mib: int) -> Iterator[bytes]:
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    piece = b"\x00" * _MIB
    for _ in range(mib):
        if packed := packer.compress(piece):
            yield packed
    yield packer.flush()


def _brotlied(mib: int) -> Iterator[bytes]:
    packer = brotli.Compressor(quality=1)
    piece = b"\x00" * _MIB
    for _ in range(mib):
        if packed := packer.process(piece):
            yield packed
    yield packer.finish()


def _huge(ask: Ask) -> Answer:
    size = ask.number("size", 50_000_000)
    if "length" in ask.query:
        return Reply(200, b"x" * size, (("Content-Type", "text/plain"),))
    pieces = (b"x" * min(_MIB, size - start) for start in range(0, size, _MIB))
    return Reply(200, headers=(("Content-Type", "text/plain"),), chunks=pieces)


def _prose(ask: Ask) -> Answer:
    """Answer with an article of some 17 KB that is like no other: the rest of its path decides its words."""
    words = prose(ask.rest, _SENTENCES)
    parts = [
        f"<h2>{' '.join(words[at].split()[1:4])}</h2><p>{' '.join(words[at : at + 5])}</p><p>{words[at + 5]}</p>"
        for at in range(0, _SENTENCES, 6)
    ]
    links = "".join(f'<li><a href="/prose/{ask.rest}-{number}">Note {number}</a></li>' for number in range(40))
    name = f"Note {ask.rest}"
    article = f"<main><article><h1>{name}</h1>{''.join(parts)}</article></main>"
    head = f"<!doctype html><html lang=en><title>{name}</title>"
    return text(f"{head}<body><nav><ul>{links}</ul></nav>{article}<footer>Notes</footer>", HTML)


def _fresh(ask: Ask) -> Answer:
    control = f"max-age={ask.query.get('age', '0')}"
    headers: Headers = (("ETag", _ETAG), ("Last-Modified", _LAST_MODIFIED), ("Cache-Control", control))
    if ask.headers.get("if-none-match") == _ETAG:
        return Reply(304, headers=headers)
    return page("article.html", headers=headers)


def _cookies(ask: Ask) -> Answer:
    if ask.rest == "set":
        value = ask.query.get("value", "yes")
        headers: Headers = (("Set-Cookie", f"kept={value}; Path=/; HttpOnly"), ("Cache-Control", "no-store"))
        return text("set", "text/plain", headers=headers)
    return text(ask.headers.get("cookie", "none"), "text/plain", headers=(("Cache-Control", "no-store"),))


def _table(ask: Ask) -> Answer:
    rows = "".join(
        f"<tr><td>thread {row}</td><td>{row * 3}</td><td>cotton</td></tr>" for row in range(ask.number("rows", 500))
    )
    head = "<caption>Threads</caption><thead><tr><th>Name</th><th>Length</th><th>Stuff</th></tr></thead>"
    return text(
        f"<html lang=en><title>Threads</title><main><h1>Threads</h1><table>{head}<tbody>{rows}</tbody></table></main>"
    )


def _wrong_charset(_: Ask) -> Answer:
    return text(_file("article.html"), "text/html; charset=iso-8859-1")


def _json(_: Ask) -> Answer:
    return text(json.dumps({"title": "Threads", "items": [1, 2, {"token": "abc"}]}), "application/json")


def _feed(_: Ask) -> Answer:
    items = "".join(
        f"<item><title>Note {number}</title><link>https://notes.example/{number}</link>"
        f"<description>About {number}</description></item>"
        for number in range(3)
    )
    return text(
        f"<?xml version='1.0'?><rss version='2.0'><channel><title>Notes</title>{items}</channel></rss>",
        "application/rss+xml",
    )


ROUTES: tuple[tuple[str, Callable[[Ask], Answer]], ...] = (
    ("/", lambda _: page("article.html")),
    ("/active", lambda _: page("active.html")),
    ("/article", lambda _: page("article.html")),
    ("/redirect", _redirect),
    ("/status", _status),
    ("/soft404", lambda _: page("soft404.html")),
    ("/slow", lambda ask: page("article.html", after_ms=ask.number("ms", 1_000))),
    ("/drip", lambda ask: Drip(ask.number("count", 1_000), ask.number("ms", 50))),
    ("/huge", _huge),
    ("/bomb", _bomb),
    ("/endless", _endless),
    ("/encoded", _encoded),
    ("/broken-gzip", lambda _: text(b"\x1f\x8bnot gzip", headers=(("Content-Encoding", "gzip"),))),
    ("/wrong-charset", _wrong_charset),
    ("/reset", lambda _: Break(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf", reset=True)),
    ("/cut", lambda _: Break(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")),
    ("/hangup", lambda _: Break()),
    ("/garbage", lambda _: Break(b"SSH-2.0-OpenSSH_9.6\r\n")),
    ("/challenge", lambda ask: page("challenge.html", ask.number("status", 403), (("Server", "cloudflare"),))),
    ("/json", _json),
    ("/text", lambda _: text("A plain note.\n\nWith *two* paragraphs.", "text/plain")),
    ("/csv", lambda _: text("name,length\nwarp,12\nweft,9\n", "text/csv")),
    ("/feed", _feed),
    ("/pdf", lambda _: text(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "application/pdf")),
    ("/spa", lambda _: page("spa.html")),
    ("/login", lambda _: page("login.html")),
    ("/fresh", _fresh),
    ("/prose", _prose),
    ("/cookies", _cookies),
    ("/table", _table),
    ("/hidden", lambda _: page("hidden.html")),
    ("/account", answer_account),
    ("/shop", answer_shop),
    ("/healing", answer_healing),
    ("/members", answer_members),
    ("/apps", answer_apps),
    ("/corpus", answer_corpus),
    *BROKEN,
    *SCRIPTED,
    *REHEARSED,
    *DOCUMENTS,
    *NOTES,
    *STAND_IN_ROUTES,
)
