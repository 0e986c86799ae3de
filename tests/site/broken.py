"""Answers that no server should give: bodies that end early, bytes that are no text, documents that lead elsewhere."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Callable
from importlib import import_module
from typing import Any

from tests.site.answers import HTML, Answer, Ask, Break, Drip, Reply, text

_PROSE = "".join(
    f"<p>Thread {number} of the warp is {number * 7} ells long, and is counted twice.</p>" for number in range(900)
)
_DOCUMENT = f"<!doctype html><title>The warp</title><main><h1>The warp</h1>{_PROSE}</main>".encode()


def _packed(coding: str) -> bytes:
    packer: dict[str, Callable[[bytes], Any]] = {
        "gzip": gzip.compress,
        "deflate": zlib.compress,
        "br": import_module("brotli").compress,
        "zstd": import_module("backports.zstd").compress if coding == "zstd" else bytes,
        "plain": bytes,
    }
    return bytes(packer[coding](_DOCUMENT))


def _half(ask: Ask) -> Answer:
    """Answer with the first half of a compressed page, in a transfer that is whole (or, for `frame`, is not)."""
    coding, frame = ask.rest.partition("/")[2], ask.query.get("frame", "length")
    body = _packed(coding)
    body = body[: len(body) // ask.number("part", 2)]
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {HTML}\r\nCache-Control: max-age=600\r\n"
    head += f"Content-Encoding: {coding}\r\n" if coding != "plain" else ""
    frames = {
        "length": (f"Content-Length: {len(body)}\r\n", body),
        "longer": (f"Content-Length: {len(body) + 100}\r\n", body),
        "chunked": ("Transfer-Encoding: chunked\r\n", b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)),
        "endless": ("Transfer-Encoding: chunked\r\n", b"%x\r\n%s\r\n" % (len(body), body)),
        "close": ("", body),
    }
    length, sent = frames[frame]
    return Break(f"{head}{length}Connection: close\r\n\r\n".encode() + sent)


def _noise(_: Ask) -> Answer:
    return text(random.Random(7).randbytes(20_000))


def _refresh(ask: Ask) -> Answer:
    """Answer with a document that leads on: so often, for ever, or to the address in `to`."""
    left = ask.rest.partition("/")[2]
    count = int(left) if left.isdigit() else 0
    to = ask.query.get("to") or ("/broken/refresh/loop" if left == "loop" else "/article")
    to = f"/broken/refresh/{count - 1}" if count > 1 else to
    return text(f'<title>Wait</title><meta http-equiv="refresh" content="{ask.query.get("s", "0")};url={to}">')


def _framed(ask: Ask) -> Answer:
    to = ask.query.get("to", "/article")
    if ask.rest == "frameset":
        return text(f'<title>Old</title><frameset cols="120,*"><frame src="/text"><frame src="{to}"></frameset>')
    return text(f'<title>Masked</title><iframe src="{to}" width="100%" height="100%" frameborder=0></iframe>')


_KINDS: dict[str, Callable[[Ask], Answer]] = {
    "half": _half,
    "noise": _noise,
    "refresh": _refresh,
    "frameset": _framed,
    "iframe": _framed,
    "silence": lambda _: Reply(200, after_ms=600_000),
    "drip": lambda _: Drip(10_000, 1_000, headers=(("Content-Type", HTML),)),
    "1020": lambda _: text("error code: 1020", "text/plain", 403, (("Server", "cloudflare"), ("CF-RAY", "8a-FRA"))),
    "kasada": lambda _: text("", status=429, headers=(("x-kpsdk-ct", "0a1b"), ("x-kpsdk-v", "j-1"))),
}

BROKEN: tuple[tuple[str, Callable[[Ask], Answer]], ...] = (
    ("/broken", lambda ask: _KINDS[ask.rest.partition("/")[0]](ask)),
)
