"""Where a visit goes, as far as it is remembered: the host, and the domain that it belongs to."""

from __future__ import annotations

import re
from dataclasses import dataclass

import httpx2

from actors.sites import site_of
from protocol.faults import FaultError

_WEB = ("http", "https")
_NO_KEY = re.compile(r"[^a-z0-9_.-]")
_MAX_CHARS = 253
_NUMBERS = re.compile(r"(.*\.)?[0-9]+")


@dataclass(frozen=True)
class Place:
    """A host in lower case ASCII, with the keys of its history and of that of its domain, if it has one.

    Nothing else of an address is in the keys, but for a port that is not the usual one: there is another site.
    """

    host: str
    key: str
    domain_key: str | None


def place_of(url: str) -> Place | None:
    """Return the place of a web address, if it is one."""
    try:
        parsed = httpx2.URL(url)
        host = parsed.raw_host.decode("ascii").strip("[]").rstrip(".").lower()
        domain = site_of(url)
    except (httpx2.InvalidURL, FaultError, UnicodeError, ValueError):
        return None
    if not 0 < len(host) <= _MAX_CHARS or parsed.scheme not in _WEB:
        return None
    if parsed.port is not None:
        return Place(host, f"{_escaped(host)}/{parsed.port}", None)
    has_domain = "." in host and not _NUMBERS.fullmatch(host)
    return Place(host, _escaped(host), f"{_escaped(domain)}/any" if has_domain else None)


def _escaped(host: str) -> str:
    """Spell what is no letter of a key, as in addresses of IPv6."""
    return _NO_KEY.sub(lambda found: f"={ord(found.group()):x}=", host)
