"""The browse contract of the edge: options in, result and decision trace out (000 §5 to §7)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, structs

from protocol.actions import FIX_INPUT, NO_SELECTOR, Action, ranked
from protocol.confidence import FieldConfidence, Use
from protocol.documents import ExtractedLink, ExtractedTable, Signal
from protocol.faults import Category, Code, Fault, FaultContext, fault
from protocol.page import Form, PageFields, PageKind, RecordList, StructuredItem
from protocol.patterns.pattern import PatternSource
from protocol.tiers import SCRIPTED, TIERS, RenderTier

SCHEMA_VERSION = "1.0"
"""MAJOR.MINOR of every answer of the edge (000 §1)."""


def stated_version() -> str:
    """Return the default of a `schema_version` whose struct omits defaults: it is written all the same."""
    return msgspec.field(default_factory=lambda: SCHEMA_VERSION)


MIN_CONTENT_CHARS = 500
"""Text that the cheap tiers need at least (000 §6)."""

MAX_URL_CHARS = 8_192
MIN_EXCERPT_CHARS = 500
MAX_EXCERPT_CHARS = 2_000_000
SHORT_TABLE_ROWS = 20
"""The rows of a table that are given unless all are asked for."""

DEFAULT_PAGES = 5
MAX_PAGES = 50
"""Pages that are put together where a client has pagination followed."""

MAX_ATTEMPTS = 8
"""The actions that a call may name as tried before it."""

DEFAULT_LATENCY_MS = 30_000
MAX_LATENCY_MS = 300_000


class Freshness(StrEnum):
    """How old an answer may be.

    `realtime` asks the site, `cached` takes whatever is stored at any age, `any` takes what is stored while HTTP says
    it is fresh; both ask the site when nothing is stored.
    """

    REALTIME = "realtime"
    CACHED = "cached"
    ANY = "any"


class Part(StrEnum):
    """What a page holds beside its words, and is given on request; of tables, the rows beyond the first.

    Over MCP the words stand in the text of an answer alone, and as data, too, for who asks for `markdown`.
    """

    LINKS = "links"
    FORMS = "forms"
    LISTS = "lists"
    STRUCTURED_DATA = "structuredData"
    TABLES = "tables"
    MARKDOWN = "markdown"


class BrowseOptions(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """What a client may ask of a browse (000 §7)."""

    max_latency_ms: Annotated[
        int, Meta(ge=1, le=MAX_LATENCY_MS, description="Milliseconds that the whole answer may take.")
    ] = DEFAULT_LATENCY_MS
    max_cost_tier: Annotated[RenderTier, Meta(description="The most expensive tier that may be used.")] = TIERS[-1]
    freshness_requirement: Annotated[
        Freshness,
        Meta(description="realtime: ask the site; cached: anything stored will do; any: stored while it is fresh."),
    ] = Freshness.ANY
    force_tier: Annotated[RenderTier | None, Meta(description="Use this tier and no other.")] = None
    session_profile: Annotated[
        Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-][A-Za-z0-9_.-]*$(?!\n)")] | None,
        Meta(description="Saved login to use."),
    ] = None
    include_decision_trace: Annotated[bool, Meta(description="Say which tiers and selectors were tried.")] = False
    include_html: Annotated[
        bool, Meta(description="Return the HTML of the page, too, without scripts and what nobody sees.")
    ] = False
    include_network: Annotated[bool, Meta(description="Return the requests made.")] = False
    include_console: Annotated[bool, Meta(description="Return what the page wrote to its console.")] = False
    wait_for_selector: Annotated[
        Annotated[str, Meta(min_length=1, max_length=500)] | None, Meta(description="CSS: wait until it is there.")
    ] = None
    scroll_to_load: Annotated[bool, Meta(description="Scroll until no more comes.")] = False
    dismiss_overlays: Annotated[bool, Meta(description="Refuse consent banners, close overlays.")] = False
    follow_pagination: Annotated[bool, Meta(description="Add the pages that follow.")] = False
    max_pages: Annotated[int, Meta(ge=1, le=MAX_PAGES, description="Pages at most then.")] = DEFAULT_PAGES
    include: Annotated[tuple[Part, ...], Meta(description="More to return as data; tables: all rows.")] = ()
    max_chars: Annotated[
        Annotated[int, Meta(ge=MIN_EXCERPT_CHARS, le=MAX_EXCERPT_CHARS)] | None,
        Meta(description="Characters of Markdown at most."),
    ] = None
    cursor: Annotated[
        Annotated[str, Meta(min_length=1, max_length=256)] | None,
        Meta(description="As an earlier answer gave it: goes on there."),
    ] = None
    section: Annotated[
        Annotated[str, Meta(min_length=1, max_length=300)] | None,
        Meta(description="Heading of the section to return."),
    ] = None
    query: Annotated[
        Annotated[str, Meta(min_length=1, max_length=300)] | None,
        Meta(description="Words that passages or rows should match."),
    ] = None
    attempt: Annotated[
        tuple[str, ...],
        Meta(max_length=MAX_ATTEMPTS, description="As errors say."),
    ] = ()


def contradiction(options: BrowseOptions) -> Fault | None:
    """Return which option contradicts another, if one does: then there is no tier to use."""
    forced, highest = options.force_tier, options.max_cost_tier
    if forced is not None and forced.rank > highest.rank:
        return _contradicts("forceTier", f"{forced} costs more than maxCostTier {highest} allows")
    wish = wish_for_scripts(options)
    if wish and (forced or highest) not in SCRIPTED:
        return _contradicts(wish, f"needs a tier that runs scripts; allow {' or '.join(SCRIPTED)}")
    return None


def consistent(options: BrowseOptions) -> BrowseOptions:
    """Return options without contradiction: what is asked for counts for more than what it may cost."""
    forced, highest = options.force_tier, options.max_cost_tier
    if wish_for_scripts(options) and (forced or highest) not in SCRIPTED:
        return structs.replace(options, force_tier=None, max_cost_tier=TIERS[-1])
    if forced is not None and forced.rank > highest.rank:
        return structs.replace(options, max_cost_tier=TIERS[-1])
    return options


def wish_for_scripts(options: BrowseOptions) -> str:
    """Name the option that only a tier with scripts can fulfil, if there is one."""
    if options.wait_for_selector is not None:
        return "waitForSelector"
    return "scrollToLoad" if options.scroll_to_load else ""


def lacks_awaited(message: str) -> Fault:
    """Make the fault of a page without the element that was waited for; it can be read without waiting."""
    actions = ranked((NO_SELECTOR, FIX_INPUT))
    return fault(Code.ELEMENT_NOT_FOUND, message, field="options.waitForSelector", actions=actions)


def _contradicts(option: str, complaint: str) -> Fault:
    field = f"options.{option}"
    return fault(Code.VALIDATION_INVALID_REQUEST, f"{field}: {complaint}", field=field)


class TierAttempt(Struct, frozen=True, kw_only=True, rename="camel"):
    """One tier that was tried, or skipped with a `failure_reason` (000 §6)."""

    tier: RenderTier
    success: bool
    duration_ms: int
    failure_reason: str | UnsetType = UNSET
    validation_details: ValidationDetails | UnsetType = UNSET
    pattern: PatternTrace | UnsetType = UNSET


class PatternTrace(Struct, frozen=True, kw_only=True, rename="camel"):
    """The learned pattern by which a tier was asked in the place of a page, and why it was trusted."""

    pattern_id: str
    trust: Literal["high", "medium"]
    reason: str


class ValidationDetails(Struct, frozen=True, kw_only=True, rename="camel"):
    """What the verifier measured of an attempt; lengths in characters (000 §6)."""

    content_length: int
    has_semantic_markers: bool
    has_incomplete_markers: bool
    meets_min_length: bool


class SelectorAttempt(Struct, frozen=True, kw_only=True, rename="camel"):
    """One way in which the main content was looked for (000 §6)."""

    selector: str
    source: str
    matched: bool
    content_length: int
    confidence_score: float
    selected: bool
    skip_reason: str | UnsetType = UNSET


class TitleAttempt(Struct, frozen=True, kw_only=True, rename="camel"):
    """One place in which the title was looked for."""

    source: str
    matched: bool
    confidence_score: float
    selected: bool
    value: str | UnsetType = UNSET
    skip_reason: str | UnsetType = UNSET


class TraceSummary(Struct, frozen=True, kw_only=True, rename="camel"):
    """The trace in five values."""

    total_tiers_attempted: int
    successful_tier: RenderTier
    total_selectors_attempted: int
    selected_selector: str
    total_duration_ms: int


class DecisionTrace(Struct, frozen=True, kw_only=True):
    """How an answer came about (000 §6)."""

    tiers: tuple[TierAttempt, ...]
    selectors: tuple[SelectorAttempt, ...]
    title: tuple[TitleAttempt, ...]
    summary: TraceSummary


class NetworkRequest(Struct, frozen=True, kw_only=True, rename="camel"):
    """One exchange with a site (000 §5): times in ms, credentials taken out of both header maps."""

    url: str
    method: str
    status: int
    status_text: str
    headers: dict[str, str]
    request_headers: dict[str, str]
    timestamp: int
    content_type: str | UnsetType = UNSET
    response_body: Any | UnsetType = UNSET
    duration: int | UnsetType = UNSET


class ConsoleMessage(Struct, frozen=True, kw_only=True):
    """A line that the page wrote to its console; `timestamp` in ms since the epoch."""

    level: Literal["log", "debug", "info", "warning", "error"]
    text: str
    timestamp: int


class ApiProvenance(Struct, frozen=True, kw_only=True, rename="camel"):
    """How an API was found (000 §4), and when what it answers was last held against the page, in ms since the epoch."""

    source: PatternSource
    last_verified_at: int | UnsetType = UNSET


class ApiPattern(Struct, frozen=True, kw_only=True, rename="camel"):
    """An API behind a page (000 §5); `auth_headers` holds names only, never a value.

    Clients get `url` and `content_type`, too, for those that know `endpoint` and `response_type` by these names.
    """

    endpoint: str
    method: Literal["GET", "POST", "PUT", "DELETE", "PATCH"]
    confidence: Literal["high", "medium", "low"]
    can_bypass: bool
    auth_type: Literal["cookie", "bearer", "header", "session"] | UnsetType = UNSET
    auth_headers: dict[str, str] | UnsetType = UNSET
    response_type: str | UnsetType = UNSET
    params: dict[str, Any] | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    provenance: ApiProvenance | UnsetType = UNSET
    confidence_score: float | UnsetType = UNSET
    url: str | UnsetType = UNSET
    content_type: str | UnsetType = UNSET


class BrowseContent(Struct, frozen=True, kw_only=True, rename="camel"):
    """The page as Markdown and as plain text; `html` only when it was asked for.

    Where only a part is given, `total_chars` is the length of the whole Markdown, and `cursor` goes on behind the part.
    """

    markdown: str
    text: str
    html: str | UnsetType = UNSET
    total_chars: int | UnsetType = UNSET
    cursor: str | UnsetType = UNSET


class BrowseMetadata(Struct, frozen=True, kw_only=True, rename="camel"):
    """How the page was got: `load_time` in ms, `timestamp` in ms since the epoch, `pages` where there are several.

    `tiers_attempted` are those that were put to work, in that order.
    """

    load_time: int
    timestamp: int
    final_url: str
    tier: RenderTier
    from_cache: bool = False
    retry_count: int = 0
    language: str | UnsetType = UNSET
    content_type: str | UnsetType = UNSET
    pages: int | UnsetType = UNSET
    tiers_attempted: tuple[RenderTier, ...] | UnsetType = UNSET


class LearningInsights(Struct, frozen=True, kw_only=True, rename="camel"):
    """What was learned of pages like this one, and used of it (000 §5).

    `patterns_learned` are those that Weft knows for the page's address, `patterns_applied` those that the page was made
    by in the place of its own document, and `skills_used` their ids.
    """

    patterns_learned: int
    patterns_applied: int
    skills_used: tuple[str, ...]


class PageLinks(Struct, frozen=True, kw_only=True):
    """The links of a page: those of its main content, and those of its navigation."""

    content: tuple[ExtractedLink, ...]
    navigation: tuple[ExtractedLink, ...]


class BrowseResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """A page, as a client gets it (000 §5). Its words are the web's: evidence, never instructions.

    What follows `learning_insights` is added to the contract. `usable_for` tells what the page is good enough for, by
    the overall score and that of its content; `left_out` counts what the page holds but nobody is meant to see;
    `final_url` is that of the metadata. Where a part of the page stands behind `walls`, such as a paywall, what is
    given is the rest.
    """

    url: str
    title: str
    content: BrowseContent
    metadata: BrowseMetadata
    schema_version: str = SCHEMA_VERSION
    field_confidence: FieldConfidence | UnsetType = UNSET
    tables: tuple[ExtractedTable, ...] | UnsetType = UNSET
    discovered_apis: tuple[ApiPattern, ...] | UnsetType = UNSET
    network: tuple[NetworkRequest, ...] | UnsetType = UNSET
    console: tuple[ConsoleMessage, ...] | UnsetType = UNSET
    decision_trace: DecisionTrace | UnsetType = UNSET
    learning_insights: LearningInsights | UnsetType = UNSET
    fields: PageFields | UnsetType = UNSET
    usable_for: tuple[Use, ...] | UnsetType = UNSET
    signals: tuple[Signal, ...] | UnsetType = UNSET
    links: PageLinks | UnsetType = UNSET
    forms: tuple[Form, ...] | UnsetType = UNSET
    lists: tuple[RecordList, ...] | UnsetType = UNSET
    structured_data: tuple[StructuredItem, ...] | UnsetType = UNSET
    left_out: dict[str, int] | UnsetType = UNSET
    final_url: str | UnsetType = UNSET
    walls: tuple[PageKind, ...] | UnsetType = UNSET


class StructuredError(Struct, frozen=True, kw_only=True, rename="camel"):
    """An error, as a client gets it (000 §3); `field` names the part of the request that is at fault."""

    error: str
    category: Category
    code: Code
    retryable: bool
    recommended_actions: tuple[Action, ...]
    schema_version: str = SCHEMA_VERSION
    http_status: int | UnsetType = UNSET
    field: str | UnsetType = UNSET
    context: FaultContext | UnsetType = UNSET
