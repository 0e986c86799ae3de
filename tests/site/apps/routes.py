"""Serves the built pages, and answers what they ask."""

from __future__ import annotations

import base64
import hashlib
import json
import mimetypes
from functools import cache
from pathlib import Path
from typing import Any

from tests.site.answers import HTML, Answer, Ask, Break, Reply, text
from tests.site.apps.building import HERE, build_apps

# Pages with much text and data, by name: what a browser shows of them is what a lighter tier must show.
FRAMEWORK_PAGES = {
    "react": "/apps/react-list/",
    "react-router": "/apps/react-router/",
    "react-router-deep": "/apps/react-router/notes",
    "react-query-lazy": "/apps/react-query/",
    "react-ssr": "/apps/react-ssr/",
    "vue": "/apps/vue-list/",
    "vue-router-pinia": "/apps/vue-router/",
    "svelte": "/apps/svelte-list/",
    "lit": "/apps/lit-list/",
    "preact-signals": "/apps/preact-list/",
    "solid": "/apps/solid-list/",
    "angular": "/apps/angular-list/",
    "alpine": "/apps/alpine-list/",
    "htmx": "/apps/htmx-list/",
    "mithril": "/apps/mithril-list/",
    "elements": "/apps/elements/",
    "history-storage": "/apps/history/",
    "observers": "/apps/observers/",
    "late": "/apps/late/",
    "worker": "/apps/worker/",
    "frames": "/apps/frames/",
    "chart": "/apps/chart/",
}
# Pages that only a whole browser can show.
BROWSER_PAGES = {
    name: f"/apps/{name}/" for name in ("webgl", "is-elements", "service-worker", "socket", "media", "unsupported")
}
# Pages that mean harm.
HOSTILE_PAGES = {name: f"/apps/hostile-{name}/" for name in ("loop", "memory", "dom", "escape", "requests", "deep")}
CORPUS_DIST = HERE.parents[2] / "scripts" / "signal_measuring" / "corpus" / "dist"
_WEBSOCKET_ID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455 §1.3
_DEEP = 200_000


def answer_apps(ask: Ask) -> Answer:
    """Answer for `/apps/...`: a built page, a file of it, or data."""
    name, _, rest = ask.rest.partition("/")
    if name == "api":
        return _data(rest, ask)
    if name == "hostile-deep":
        depth = ask.number("depth", _DEEP)
        return text("<!doctype html><title>Deep</title>" + "<div>" * depth + "the bottom", HTML)
    return _file(_built(), name, rest)


def answer_corpus(ask: Ask) -> Answer:
    """Answer for `/corpus/...`: pages that `scripts/measure-signals` has built."""
    name, _, rest = ask.rest.partition("/")
    return _file(CORPUS_DIST, name, rest)


@cache
def _built() -> Path:
    return build_apps()


def _file(dist: Path, name: str, rest: str) -> Answer:
    """Return a file of a page; a path without a file belongs to the router that runs in the page."""
    folder = (dist / name).resolve()
    path = (folder / (rest or "index.html")).resolve()
    if not name or not path.is_relative_to(folder) or folder.parent != dist.resolve():
        return text("no such page", "text/plain", 404)
    if not path.is_file():
        path = path if path.suffix else folder / "index.html"
    if not path.is_file():
        return text("no such page", "text/plain", 404)
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return text(_read(path, path.stat().st_mtime_ns), HTML if kind == "text/html" else kind)


@cache
def _read(path: Path, _changed: int) -> bytes:
    return path.read_bytes()


def _data(what: str, ask: Ask) -> Answer:
    words = _words()
    threads = words["threads"]
    match what.split("/"):
        case ["threads", number] if number.isdecimal() and 0 < int(number) <= len(threads):
            return _json(threads[int(number) - 1])
        case ["board"]:
            return text(
                "".join(f"<article><h2>{note['title']}</h2><p>{note['text']}</p></article>" for note in words["notes"])
            )
        case ["events"]:
            return text("".join(f"data: {line}\n\n" for line in words["article"]), "text/event-stream")
        case ["socket"]:
            return _socket(ask, words["article"])
        case [name] if name in words:
            return _json(words[name])
        case _:
            return text("{}", "application/json", 404)


@cache
def _words() -> Any:
    """Return what `words.json` holds: threads, notes, and an article that a page shows once something has worked."""
    return json.loads(HERE.joinpath("words.json").read_bytes())


def _socket(ask: Ask, lines: list[str]) -> Answer:
    """Accept a WebSocket, say the article line by line, and hang up."""
    key = ask.headers.get("sec-websocket-key", "")
    proof = base64.b64encode(hashlib.sha1(f"{key}{_WEBSOCKET_ID}".encode(), usedforsecurity=False).digest()).decode()
    fields = f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {proof}\r\n"
    head = f"HTTP/1.1 101 Switching Protocols\r\n{fields}\r\n"
    return Break(head.encode() + b"".join(_frame(line.encode()) for line in lines))


def _frame(data: bytes) -> bytes:
    """Frame a text that is shorter than 64 KiB, as a server does (RFC 6455 §5.2)."""
    size = len(data)
    length = bytes([size]) if size < 126 else b"\x7e" + size.to_bytes(2, "big")
    return b"\x81" + length + data


def _json(value: object) -> Reply:
    return text(json.dumps(value), "application/json")
