"""Where a document sends whoever opens it, though it came with 200: a refresh, or a frame that is the whole page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from turbohtml import Document, Element, parse

from actors.extraction.parse.addresses import on_the_web

MAX_DELAY_S: Final = 5.0
"""A refresh that waits longer is one of a page that wants to be read first."""

MAX_FRAMED_BYTES: Final = 16_384
MAX_FRAMED_CHARS: Final = 200
"""A page that is no more than a frame has next to nothing of its own."""

_NUMERIC: Final = frozenset("0123456789.")
_READ_BYTES: Final = 262_144
_REFRESH: Final = re.compile(
    r"\s*(\d*(?:\.\d*)?)[^;,\s]*\s*(?:[;,\s]\s*(?:url\s*=\s*)?(.*))?", re.IGNORECASE | re.DOTALL
)
_MAY_LEAD: Final = re.compile(rb"http-equiv\s*=\s*[\"']?\s*refresh|<frameset|<iframe", re.IGNORECASE)
_FRAMES: Final = re.compile(rb"<frameset|<iframe", re.IGNORECASE)
_HIDDEN: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|(?:^|;)\s*(?:width|height)\s*:\s*[01](?:px)?\s*(?:;|$)"
)
_FULL: Final = re.compile(r"height\s*:\s*(?:100|9\d)(?:\.\d+)?(?:%|[sdl]?vh)|(?:^|[;{\s])inset\s*:\s*0|bottom\s*:\s*0")
_WALLS: Final = re.compile(
    r"_incapsula_resource|captcha|challenges\.cloudflare\.com|/cdn-cgi/|arkoselabs|perimeterx|px-cloud|kpsdk|datadome",
    re.IGNORECASE,
)
"""Frames of those who let only people in: what is around them says so, what is in them does not."""

_STYLED: Final = re.compile(r"iframe[^{}]{0,200}\{([^{}]{0,500})\}")
_UNREAD: Final = "script, style, noscript, template, noframes, iframe, title"


class PageRedirect(Struct, frozen=True):
    """Where a document leads; `delay_s` is how long a refresh waits, `framed` that it is a frame's address."""

    url: str
    delay_s: float = 0.0
    framed: bool = False


def page_redirect(body: bytes, url: str, refresh: str = "") -> PageRedirect | None:
    """Return where a document of HTML leads; `refresh` is the header of its answer, which counts as an element does.

    A refresh of the page itself that waits is none: such a page only is kept up to date.
    """
    if refresh and (redirect := _refreshed(refresh, url, url)) is not None:
        return redirect
    head = body[:_READ_BYTES]
    if not _MAY_LEAD.search(head):
        return None
    whole = len(body) <= MAX_FRAMED_BYTES and _FRAMES.search(body) is not None
    document = parse((body if whole else head).decode("utf-8", "replace"), positions=False)
    base = document.base_url(url) or url
    for content in _refreshes(document):
        if (redirect := _refreshed(content, base, url)) is not None:
            return redirect
    frame = _whole_frame(document) if whole else ""
    target = on_the_web(base, frame).partition("#")[0] if frame and not _WALLS.search(frame) else ""
    return PageRedirect(target, framed=True) if target and target != url.partition("#")[0] else None


def _refreshes(document: Document) -> Iterator[str]:
    """Yield what the elements of a document say that count where scripts run: those of <noscript> do not."""
    for element in document.select("meta[http-equiv]"):
        if (element.attr("http-equiv") or "").strip().lower() == "refresh" and element.closest("noscript") is None:
            yield element.attr("content") or ""


def _refreshed(content: str, base: str, url: str) -> PageRedirect | None:
    """Parse a refresh as browsers do (HTML, "shared declarative refresh steps")."""
    match = _REFRESH.fullmatch(content)
    if match is None or content.strip()[:1] not in _NUMERIC:
        return None
    delay_s = float(match[1].rstrip(".") or 0)
    named = (match[2] or "").strip()
    quote = named[:1]
    named = named[1:].partition(quote)[0] if quote in ("'", '"') and quote else named
    target = on_the_web(base, named) if named else url
    is_itself = target.partition("#")[0] == url.partition("#")[0]
    if not target or delay_s > MAX_DELAY_S or (is_itself and delay_s > 0):
        return None
    return PageRedirect(target, delay_s)


# -- frames ------------------------------------------------------------------------------------------------------------


def _whole_frame(document: Document) -> str:
    """Return the address of the frame that is the page; "" where none is."""
    frames = [frame for frame in document.select("frameset frame[src]") if frame.closest("noscript") is None]
    if frames:
        return max(frames, key=_share).attr("src") or ""
    shown = [frame for frame in document.select("iframe[src]") if _is_shown(frame)]
    if len(shown) != 1 or not _is_full(shown[0], document):
        return ""
    address = shown[0].attr("src") or ""
    for element in document.select(_UNREAD):
        element.decompose()
    return address if len(" ".join(document.text.split())) <= MAX_FRAMED_CHARS else ""


def _is_shown(frame: Element) -> bool:
    sizes = (frame.attr("width") or "", frame.attr("height") or "")
    return (
        frame.closest("noscript, template") is None
        and not any(size.strip() in ("0", "1", "0px", "1px") for size in sizes)
        and frame.attr("hidden") is None
        and not _HIDDEN.search((frame.attr("style") or "").lower())
    )


def _is_full(frame: Element, document: Document) -> bool:
    if (frame.attr("height") or "").strip() == "100%" or _FULL.search((frame.attr("style") or "").lower()):
        return True
    styles = " ".join(style.text for style in document.select("style")).lower()
    return any(_FULL.search(rules) for rules in _STYLED.findall(styles))


def _share(frame: Element) -> float:
    """Return how much of the window a frame takes, about."""
    share, child, parent = 1.0, frame, frame.parent
    while isinstance(parent, Element) and parent.tag == "frameset":
        place = [each for each in parent.children if isinstance(each, Element)].index(child)
        share *= _part(parent.attr("cols") or "", place) * _part(parent.attr("rows") or "", place)
        child, parent = parent, parent.parent
    return share


def _part(sizes: str, place: int) -> float:
    """Return the part of a window that falls to one place in a list such as `200,*` or `30%,70%`."""
    parts = [size.strip() for size in sizes.split(",")]
    if len(parts) < _LEAST_PARTS or place >= len(parts):
        return 1.0
    fixed = {index: _fixed(size) for index, size in enumerate(parts) if not size.endswith("*")}
    rest = max(1.0 - sum(fixed.values()), 0.1) / max(len(parts) - len(fixed), 1)
    return fixed.get(place, rest)


def _fixed(size: str) -> float:
    number = re.match(r"\d{1,4}", size)
    return int(number[0]) / (100 if size.endswith("%") else _WINDOW) if number else 0.0


_LEAST_PARTS: Final = 2
_WINDOW: Final = 1_000
"""A window of so many pixels, to compare a fixed frame with the others."""
