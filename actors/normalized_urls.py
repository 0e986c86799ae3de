"""What makes two addresses the same page: one spelling of both (003 `normalized_url`)."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from actors.page_addresses import page_address

MARKS: Final = frozenset(
    {"fbclid", "gclid", "yclid", "mc_cid", "mc_eid", "ref", "ref_src", "ref_url", "referrer", "source", "spm"}
    | {"igshid", "mkt_tok"}
)
"""Parameters that tell where a visitor came from, and nothing of the page."""

_CAMPAIGN: Final = "utm_"
_PORTS: Final = {"http": 80, "https": 443}
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f]")
_ESCAPE: Final = re.compile(r"%[0-9a-fA-F]{2}")


def normalized(url: str) -> str:
    """Return the one spelling of an address of the web: no fragment, no marks of campaigns, parameters in order.

    Raises:
        ValueError: it is no address of http or https, with the reason.
        FaultError: as `page_address` says.
    """
    if _CONTROLS.search(url):
        msg = "an address has no line breaks and no other control characters"
        raise ValueError(msg)
    parts = urlsplit(page_address(url))
    scheme = parts.scheme.lower()
    if scheme not in _PORTS or not parts.hostname:
        msg = "only addresses of http and https can be kept"
        raise ValueError(msg)
    host = parts.hostname.rstrip(".").lower()
    shown = f"[{host}]" if ":" in host else host
    port = "" if parts.port in (None, _PORTS[scheme]) else f":{parts.port}"
    query = "&".join(sorted(pair for pair in parts.query.split("&") if pair and not _is_mark(pair)))
    path = _escapes(parts.path).rstrip("/")
    return f"{scheme}://{shown}{port}{path}{f'?{_escapes(query)}' if query else ''}"


def _is_mark(pair: str) -> bool:
    name = pair.partition("=")[0].lower()
    return name in MARKS or name.startswith(_CAMPAIGN)


def _escapes(text: str) -> str:
    """Return what is percent-encoded in capitals (RFC 3986 §6.2.2.1)."""
    return _ESCAPE.sub(lambda match: match[0].upper(), text)
