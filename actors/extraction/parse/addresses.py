"""Joins links to the address of their page, the common kinds without taking addresses apart."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import urljoin, urlsplit

_WHOLE = re.compile(r"https?://[a-zA-Z0-9][a-zA-Z0-9.-]*(?::\d{1,5})?(?:[/?#][^\s\\]*)?")
_ROOTED = re.compile(r"/(?![/\\])(?!.*/\.)[^\s\\]*")
_BREAKS = re.compile(r"[\t\n\r]")


def whole(address: str) -> str:
    """Return an address that others can be resolved against; "" for what is none."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    return address if parts.scheme and (parts.netloc or parts.path) else ""


def absolute(base: str, href: str) -> str:
    """Join a link to the address of its page; "" for what is no address."""
    try:
        return urljoin(base, href.strip())
    except ValueError:
        return ""


def joined(base: str, href: str) -> str:
    """Return the absolute address of a link, as `absolute` does: most links are whole, or begin at the root."""
    href = href.strip()
    if _WHOLE.fullmatch(href):
        return href
    if _ROOTED.fullmatch(href) and (origin := _origin(base)):
        return origin + href
    scheme, colon, rest = absolute(base, _BREAKS.sub("", href)).replace(" ", "%20").partition(":")
    return f"{scheme.lower()}{colon}{rest}"


def on_the_web(base: str, href: str) -> str:
    """Return the absolute address of a link to a page or file of the web; "" for a link within the page, and others."""
    if not href or href.startswith(("#", "javascript:", "data:", "mailto:", "tel:")):
        return ""
    url = joined(base, href)
    return url if url.startswith(("http://", "https://")) else ""


@lru_cache(maxsize=16)
def _origin(base: str) -> str:
    try:
        parts = urlsplit(base)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") and parts.netloc else ""
