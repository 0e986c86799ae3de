"""Keeps the pictures that belong to the main content, with the address that they are really at."""

from __future__ import annotations

import re

from turbohtml import Element, Text

_MAX_ALT_CHARS = 120
"""What a picture is called; what is longer was not written for who looks at the page."""

_SMALL = 48
"""Pixels of width or height up to which a picture is an icon, an avatar or a tracker."""

_CHROME = re.compile(
    r"avatar|gravatar|icon|logo|sprite|spacer|pixel|tracking|badge|emoji|smiley|button|share|social|author|byline|profile"
)
_SOURCES = ("data-src", "data-lazy-src", "data-original", "data-url", "data-lazy", "data-hi-res-src", "data-orig-file")
_SETS = ("data-srcset", "data-lazy-srcset", "srcset")
_PICTURES = "img,amp-img"
_EMOJI = re.compile(r"[^\w\s\x00-\x7f][^\w\s\x00-\x7f\ufe0f\u200d]{0,7}")
_ADDRESS = re.compile(r"(?!data:|about:|blob:|javascript:)\S+", re.IGNORECASE)


def is_of_content(element: Element) -> bool:
    """Return whether an element without kept text is a picture that says something (not an icon, avatar or tracker)."""
    picture = element if element.tag in ("img", "amp-img") else element.select_one(_PICTURES)
    if picture is None or (element is not picture and element.text.strip() and element.tag != "noscript"):
        return False
    said = bool((picture.attr("alt") or "").strip()) or _captioned(picture)
    return said and not _is_chrome(picture, element)


def _is_chrome(picture: Element, holder: Element) -> bool:
    sizes = (picture.attr("width") or "", picture.attr("height") or "")
    if any(size.rstrip("px").isdigit() and int(size.rstrip("px")[:6]) <= _SMALL for size in sizes):
        return True
    names = f"{picture.attr('class') or ''} {picture.attr('id') or ''} {holder.attr('class') or ''}".lower()
    return _CHROME.search(names) is not None


def mend(body: Element) -> None:
    """Return each picture of a pruned tree its real address and a plain name; leave out those that have neither."""
    seen = set[str]()
    for picture in body.select(_PICTURES):
        alt = " ".join((picture.attr("alt") or "").split())[:_MAX_ALT_CHARS]
        source = _source(picture)
        if _EMOJI.fullmatch(alt):
            picture.replace_with(Text(alt))
        elif not source or source in seen or not (alt or _captioned(picture)):
            picture.extract()
        else:
            seen.add(source)
            picture.replace_with(Element("img", {"src": source, "alt": alt}))


def _source(picture: Element) -> str:
    for name in _SOURCES:
        if (value := picture.attr(name)) and _ADDRESS.fullmatch(value.strip()):
            return value.strip()
    for name in _SETS:
        if value := picture.attr(name):
            first = value.strip().split(" ", 1)[0].rstrip(",")
            if _ADDRESS.fullmatch(first) and not (name == "srcset" and _is_plain(picture.attr("src") or "")):
                return first
    source = (picture.attr("src") or "").strip()
    return source if _is_plain(source) else ""


def _is_plain(source: str) -> bool:
    return _ADDRESS.fullmatch(source.strip()) is not None


def _captioned(picture: Element) -> bool:
    figure = picture.closest("figure")
    return figure is not None and figure.select_one("figcaption") is not None
