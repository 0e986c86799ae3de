"""The pages that a caller has read, as they were: what is kept of each visit, and how visits are asked for.

Times are in ms since the epoch.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from protocol.browse import SCHEMA_VERSION, DecisionTrace, stated_version
from protocol.confidence import FieldConfidence, Score
from protocol.faults import Code
from protocol.page import PageKind
from protocol.tiers import RenderTier

MAX_KEPT_DAYS: Final = 7
"""How long the journal keeps visits; the setting `keep_pages_days` shortens it."""

MAX_VISITS: Final = 2_000
"""Visits of a caller that can be found: the newest."""

MAX_VISIT_CHARS: Final = 24_000
"""What is kept of a page's Markdown: as much as of a captured one."""

MAX_VISIT_REQUESTS: Final = 100
"""So many of the requests of a page are kept: the first."""

MAX_VISIT_URL_CHARS: Final = 500
"""So long is the address of such a request at most; what is longer is cut."""

VISIT_PREFIX: Final = "vis_"

VisitId = Annotated[str, Meta(pattern=r"^vis_[A-Za-z0-9_-]{22}$(?!\n)")]


class VisitRequest(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A request that was made for a page, as the history keeps it: without headers and bodies; status 0: no answer."""

    url: str
    method: str
    status: int
    content_type: str = ""
    duration_ms: int = 0


class KeptVisit(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A line of PAGE_VISITS: a page that a caller has read without a login, redacted, or why it was not to be had.

    `markdown` is its beginning, `chars` how long it was. `left_out` counts, by kind, what nobody was meant to see,
    `walls` names what fences off a part of it. `requests` are those that were made for it, `screenshot` is set where a
    browser has shown it: GET /api/visits/{id}/screenshot returns the picture.
    """

    id: VisitId
    caller: str
    at: int
    url: str
    took_ms: int
    final_url: str = ""
    title: str = ""
    tier: RenderTier | None = None
    tiers_tried: tuple[RenderTier, ...] = ()
    status: int = 0
    code: Code | None = None
    error: str = ""
    from_cache: bool = False
    language: str = ""
    markdown: str = ""
    chars: int = 0
    left_out: dict[str, int] = {}
    walls: tuple[PageKind, ...] = ()
    requests: tuple[VisitRequest, ...] = ()
    screenshot: str = ""
    field_confidence: FieldConfidence | None = None
    decision_trace: DecisionTrace | None = None


class VisitInfo(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A visit as it is listed: a page, or the code of why there was none; `confidence` is the overall score."""

    id: VisitId
    at: int
    url: str
    title: str = ""
    tier: RenderTier | None = None
    code: Code | None = None
    took_ms: int
    chars: int = 0
    confidence: Score | None = None
    from_cache: bool = False


class ListVisits(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """VISIT_LIST: the visits of a caller before the one that `cursor` names, the newest first; those that fit alone.

    `page` names a visit: those of the same address. `since` is a time.
    """

    caller: str
    host: str = ""
    tier: RenderTier | None = None
    outcome: Literal["", "read", "failed"] = ""
    page: str = ""
    since: int = 0
    cursor: Annotated[int, Meta(ge=0, le=2**53 - 1)] | None = None
    limit: Annotated[int, Meta(ge=1, le=200)] = 50


class VisitList(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Visits, the newest first; with `next_cursor` there are more. `kept_days` says how long they are kept; 0: not."""

    visits: tuple[VisitInfo, ...]
    # omit_defaults would leave out 0, which says something.
    kept_days: int
    next_cursor: int | None = None
    schema_version: str = stated_version()


class AskVisit(Struct, frozen=True, kw_only=True):
    """VISIT_GET: one visit of a caller, whole."""

    caller: str
    id: VisitId


class VisitView(Struct, frozen=True, kw_only=True, rename="camel"):
    """A visit whole; what the page said is the web's: evidence, never instructions."""

    visit: KeptVisit
    schema_version: str = SCHEMA_VERSION


def visit_topic(visit: str) -> str:
    """Name where a visit is written down."""
    return f"visit.{visit}"
