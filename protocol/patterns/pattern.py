"""A pattern: what answers for pages of one kind, how that becomes the page, and how far it is trusted."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from msgspec import Struct

from protocol.patterns.mapping import PageMapping

MAX_PATTERNS = 500
"""Patterns that are kept of a domain at most."""

MAX_REQUESTS = 4
"""Requests that a page may be made of."""

MAX_DECAYS = 10
"""The last decays of a pattern that are kept."""

AuthKind = Literal["cookie", "bearer", "header", "session"]


class PatternSource(StrEnum):
    """Where a pattern comes from (000 §4)."""

    BOOTSTRAP = "bootstrap"
    OPENAPI_DISCOVERY = "openapi_discovery"
    GRAPHQL_INTROSPECTION = "graphql_introspection"
    API_EXTRACTION = "api_extraction"
    ASYNCAPI_DISCOVERY = "asyncapi_discovery"
    DOCS_PAGE_DETECTION = "docs_page_detection"
    LINK_DISCOVERY = "link_discovery"
    BACKEND_FINGERPRINTING = "backend_fingerprinting"
    CROSS_SITE_TRANSFER = "cross_site_transfer"
    USER_FEEDBACK = "user_feedback"
    MANUAL = "manual"


class DecayReason(StrEnum):
    """Why a pattern is trusted less (000 §4); the last two are added to the contract."""

    TIME_DECAY = "time_decay"
    REPEATED_FAILURES = "repeated_failures"
    VALIDATION_FAILURES = "validation_failures"
    SITE_STRUCTURE_CHANGED = "site_structure_changed"
    RATE_LIMITED = "rate_limited"
    AUTH_EXPIRED = "auth_expired"
    PATTERN_ARCHIVED = "pattern_archived"
    MANUAL_DOWNGRADE = "manual_downgrade"


class Decay(Struct, frozen=True, kw_only=True, rename="camel"):
    """A time at which a pattern lost trust: `shift` is below 0, `at` in ms since the epoch."""

    reason: DecayReason
    shift: float
    at: int


class ApiRequest(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A request with slots.

    `url` and `body` are templates: `{name}` stands for a piece that `PagePattern.page` takes out of a page's address,
    `{0:data.id}` for a value that the answer of an earlier request has (its number, and the way to it). `headers` have
    fixed values; `auth_headers` are names alone, whose values come from the saved login at need: `auth_places` tells
    where they stand in it, as `Bearer {local:token}`.
    """

    method: Literal["GET", "HEAD", "POST"] = "GET"
    url: str
    headers: dict[str, str] = {}
    body: str = ""
    auth: AuthKind | None = None
    auth_headers: tuple[str, ...] = ()
    auth_places: dict[str, str] = {}


class AnswerCheck(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What must stand in the answers: at `path` the piece `slot` of the page's address, or else `value`.

    `path` begins with the number of the answer; `*` stands for every item of an array.
    """

    path: tuple[str | int, ...]
    slot: str = ""
    value: Any = None


class PagePattern(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What answers for the pages of one kind. Times in ms since the epoch, `score` from 0 to 1.

    `page` is the template of the pages' addresses; without one (`""`) the pattern is a hint for callers of APIs alone.
    `requests` are asked in their order, MAX_REQUESTS at most, and `shapes` are the JSON Schemas of their answers.
    `checks` is what else must stand in them, `mapping` makes the page of them; None: a hint. `reproduced` holds hashes
    of the addresses (without query order or fragment) of different pages that the mapping gave as they were rendered, 8
    at most; the pages that it was induced from (`made_of`) are none of them unless they were made without them, too.
    `marks` is what the answers of pages were known by, which no other has. `failures` counts those in a row. `profile`
    and `caller` are set where a login was used: then nobody else ever uses the pattern. `light_only`: no browser has
    shown its pages, a light tier alone. `version` counts changes; `mapping_version` is the one that brought what is now
    the mapping.
    """

    pattern_id: str
    domain: str
    page: str
    requests: tuple[ApiRequest, ...]
    source: PatternSource
    score: float
    shapes: tuple[dict[str, Any], ...] = ()
    checks: tuple[AnswerCheck, ...] = ()
    mapping: PageMapping | None = None
    reproduced: tuple[str, ...] = ()
    marks: dict[str, tuple[str, ...]] = {}
    made_of: tuple[str, ...] = ()
    observations: int = 1
    light_only: bool = False
    verified_at: int = 0
    created_at: int = 0
    used_at: int = 0
    failures: int = 0
    decays: tuple[Decay, ...] = ()
    archived: bool = False
    profile: str = ""
    caller: str = ""
    version: int = 1
    mapping_version: int = 1
    reason: str = ""
