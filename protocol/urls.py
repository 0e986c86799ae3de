"""What an address says of itself, whether it can be read or not."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_USERINFO = re.compile(r"(?:([a-z][a-z0-9+.-]*:)?([/\\]+))?[^/?#\\]*@", re.IGNORECASE)


def without_userinfo(url: str) -> str:
    """Return an address without user name and password, whether it can be read or not."""
    match = _USERINFO.match(url.lstrip())
    return f"{match[1] or ''}{match[2] or ''}{url.lstrip()[match.end() :]}" if match else url


def host_of(url: str) -> str | None:
    """Return the host of an address; None where it has none."""
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
