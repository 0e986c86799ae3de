"""Reads the status that a page itself states, in its head or in the names of its markup: it says what kind it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from actors.verdicts.views import ClaimView
from protocol.page import PageKind

_KINDS: Mapping[str, PageKind] = MappingProxyType(
    {
        "401": PageKind.LOGIN_WALL,
        "403": PageKind.FORBIDDEN,
        "404": PageKind.NOT_FOUND,
        "410": PageKind.GONE,
        "429": PageKind.RATE_LIMITED,
        "451": PageKind.GEO_BLOCKED,
        "503": PageKind.MAINTENANCE,
    }
    | dict.fromkeys(("500", "501", "502", "504", "505", "520", "521", "522", "523", "524"), PageKind.SERVER_ERROR)
)
_STATUS = re.compile(rf"(?<![\w.,-])(?:{'|'.join(_KINDS)})(?!\w|[.,-]\w)")
_DENIED_NAME = re.compile(r"\berr_(?:cache_)?access_denied\b", re.IGNORECASE)
"""How Squid names its page in any language."""

_OPENING_CHARS = 200
_LINE_CHARS = 500
_STATUS_LINE = re.compile(
    r"^(?:error|http|code|status|[^\w\n])*[ :]*(?:40[0-59]|410|429|451|50[0-5])[^\w\n]*$", re.IGNORECASE | re.MULTILINE
)
_PLAIN = frozenset({PageKind.NOT_FOUND, PageKind.GONE, PageKind.SERVER_ERROR, PageKind.MAINTENANCE, PageKind.FORBIDDEN})
"""Kinds that a status tells apart; a wall or a challenge says more than the status that it comes with."""

_NEAR = (
    frozenset({PageKind.SERVER_ERROR, PageKind.MAINTENANCE}),
    frozenset({PageKind.FORBIDDEN, PageKind.LOGIN_WALL}),
    frozenset({PageKind.NOT_FOUND, PageKind.GONE}),
)
"""Kinds that go by the same status now and then: there the words decide."""


def has_status_line(page: ClaimView) -> bool:
    """Return whether a status stands in a line of its own where a page begins: 89 of 450 stand-ins, no healthy page."""
    return _STATUS_LINE.search(page.evidence.visible[:_LINE_CHARS]) is not None


def kind_of_status(status: str) -> PageKind | None:
    """Return the kind of a status in digits; None for one that says little."""
    return _KINDS.get(status)


def with_stated_status(page: ClaimView, kind: PageKind) -> PageKind:
    """Return what the one status that a page states makes of it, where its words alone leave that open."""
    if kind not in _PLAIN:
        return kind
    traits = page.evidence.traits
    if _DENIED_NAME.search(traits.names):
        return PageKind.FORBIDDEN
    for part in (f"{traits.title} {traits.h1}", page.evidence.visible[:_OPENING_CHARS]):
        statuses = frozenset(_STATUS.findall(part))
        if len(statuses) == 1:
            stated = _KINDS[next(iter(statuses))]
            return kind if any({kind, stated} <= near for near in _NEAR) else stated
        if statuses:
            return kind
    return kind
