"""Joins links to the address of their page, the common kinds without taking addresses apart."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from actors.extraction.parse.text import visible_address

if TYPE_CHECKING:
    from turbohtml import Element

_TRACKING = re.compile(
    r"(?:^|(?<=[&?;]))(?:(?:utm|mtm|pk|piwik|matomo|hsa)_[a-z_]{2,30}|gclid|gclsrc|dclid|gbraid|wbraid|gad_source|gad_campaignid"
    r"|fbclid|msclkid|yclid|ysclid|twclid|ttclid|li_fat_id|igshid|igsh|epik|srsltid|mc_cid|mc_eid|_ga|_gl|_hsenc|_hsmi"
    r"|__hstc|__hssc|__hsfp|hsctatracking|mkt_tok|vero_id|vero_conv|oly_anon_id|oly_enc_id|_openstat|_branch_match_id"
    r"|wickedid|rb_clickid|ref_src|at_medium|at_campaign|cmpid|ncid|s_kwcid|ef_id)(?==|&|#|$)",
    re.IGNORECASE,
)
"""The names of parameters by which campaigns and networks follow who reads; no site shows another page for them."""

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
        return visible_address(urljoin(base, href.strip()))
    except ValueError:
        return ""


def make_absolute(tree: Element, base: str) -> None:
    """Join all addresses of a tree to that of its page, in place; "" stands for those that are none."""
    try:
        tree.resolve_links(base)
    except ValueError:  # what was joined before is joined to itself
        tree.rewrite_links(lambda address: absolute(base, address))


def joined(base: str, href: str) -> str:
    """Return the absolute address of a link, as `absolute` does: most links are whole, or begin at the root."""
    href = href.strip()
    if _WHOLE.fullmatch(href):
        return visible_address(href)
    if _ROOTED.fullmatch(href) and (origin := _origin(base)):
        return origin + visible_address(href)
    scheme, colon, rest = absolute(base, _BREAKS.sub("", href)).replace(" ", "%20").partition(":")
    return f"{scheme.lower()}{colon}{rest}"


def spelled(href: str) -> str:
    """Return the address of a link as browsers read it: without blanks around it, those within it as %20."""
    return visible_address(_BREAKS.sub("", href).strip().replace(" ", "%20"))


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


def without_tracking(url: str) -> str:
    """Return an address without the parameters that only say how somebody came; all else stays as it is written."""
    place, mark, query = url.partition("?")
    if not mark or _TRACKING.search(query) is None:
        return url
    query, hash_mark, fragment = query.partition("#")
    kept = "&".join(part for part in query.split("&") if _TRACKING.match(part) is None)
    return f"{place}{'?' if kept else ''}{kept}{hash_mark}{fragment}"
