"""Learned patterns as they are listed, verified, forgotten, exchanged and asked (000 §4). Times in ms since 1970."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from protocol.browse import MAX_URL_CHARS, SCHEMA_VERSION
from protocol.documents import Trust
from protocol.pages import Url
from protocol.patterns.pattern import AuthKind, Decay, PatternSource
from protocol.sessions import Domain

PATTERN_PREFIX: Final = "pat_"
MAX_LISTED: Final = 200
MAX_IMPORTED: Final = 1_000
"""Patterns in one file at most."""

MAX_PARAMETERS: Final = 32
MAX_PARAMETER_CHARS: Final = 2_000
MAX_FEEDBACK_A_MINUTE: Final = 10
"""What one caller may say of patterns (1.B, `ai_feedback`)."""

PatternId = Annotated[
    str, Meta(pattern=r"^pat_[A-Za-z0-9_-]{1,60}$(?!\n)", description="Id of a learned pattern, such as pat_…")
]
TrustWord = Literal["high", "medium", "low"]
_ADDRESS = r"https?://[A-Za-z0-9.:\[\]_-]+(?:[/?][^\s\x1c-\x1f\x85\ufeff]*)?"
"""Without what is a blank to Python alone, or to ECMAScript alone: readers of the document go by the latter."""

_SLOTTED = "Address with slots such as {id}, but none in its host."
Template = Annotated[str, Meta(pattern=rf"^{_ADDRESS}$(?!\n)", max_length=MAX_URL_CHARS, description=_SLOTTED)]
PageTemplate = Annotated[str, Meta(pattern=rf"^(?:{_ADDRESS})?$(?!\n)", max_length=MAX_URL_CHARS, description=_SLOTTED)]


class PatternAsker(Struct, frozen=True, kw_only=True):
    """Who asks; with `with_logins` also for what was learned with his own saved logins.

    With `with_single_pages` also for hints that name the one page that somebody has visited.
    """

    caller: str
    with_logins: bool = False
    with_single_pages: bool = False


class ListPatterns(PatternAsker, frozen=True, kw_only=True):
    """PATTERN_LIST: the patterns of a domain, or of all, by domain; `cursor` goes on behind those of another answer."""

    domain: Domain | None = None
    cursor: Annotated[str, Meta(max_length=400)] = ""
    limit: Annotated[int, Meta(ge=1, le=MAX_LISTED)] = 50


class AskPattern(PatternAsker, frozen=True, kw_only=True):
    """PATTERN_SHOW: one pattern; PATTERN_FORGET: forget it."""

    pattern_id: PatternId


class PatternRequest(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a pattern asks: an address with slots; of what authenticates it the names of headers alone."""

    method: Literal["GET", "HEAD", "POST"] = "GET"
    url: str
    auth_type: AuthKind | None = None
    auth_headers: tuple[str, ...] = ()


class PatternInfo(Struct, frozen=True, kw_only=True, rename="camel"):
    """A pattern as clients see it, and how far it is trusted now.

    `page` is the template of the pages that it answers for, `parameters` are the slots that a call fills. `confidence`
    is `trust` by the name that 000 §5 has for it, `confidence_score` the number. `reproduced` counts the pages that it
    made as they were rendered. `decays` are the last that it lost trust by. `profile` is the caller's saved login that
    it was learned with.
    """

    pattern_id: str
    domain: str
    requests: tuple[PatternRequest, ...]
    source: PatternSource
    trust: TrustWord
    confidence: TrustWord
    confidence_score: float
    can_bypass: bool
    page: str | UnsetType = UNSET
    parameters: tuple[str, ...] = ()
    reproduced: int = 0
    observations: int = 1
    failures: int = 0
    archived: bool = False
    created_at: int | UnsetType = UNSET
    last_verified_at: int | UnsetType = UNSET
    last_used_at: int | UnsetType = UNSET
    decays: tuple[Decay, ...] = ()
    profile: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    version: int = 1


class PatternList(Struct, frozen=True, kw_only=True, rename="camel"):
    """Patterns; `next_cursor` where there are more."""

    patterns: tuple[PatternInfo, ...]
    next_cursor: str | UnsetType = UNSET
    schema_version: str = SCHEMA_VERSION


class PatternView(Struct, frozen=True, kw_only=True, rename="camel"):
    """One pattern, with the JSON Schemas of what its requests are answered."""

    pattern: PatternInfo
    shapes: tuple[dict[str, Any], ...] = ()
    schema_version: str = SCHEMA_VERSION


class VerifyPattern(PatternAsker, frozen=True, kw_only=True):
    """PATTERN_VERIFY: render a page, ask the API for it, and compare; `login` opens the login of the pattern's profile.

    Without `url` that is the page of a pattern whose template has no slots.
    """

    pattern_id: PatternId
    url: Url | None = None
    login: bytes = b""


class PatternVerdict(Struct, frozen=True, kw_only=True, rename="camel"):
    """Whether a pattern still makes a page as it is rendered: how much of its fields and its text is the same (0 to 1).

    `unlike` names what differs. Of a hint, which makes no page, it is said alone whether its API `answered`.
    """

    pattern: PatternInfo
    answered: bool
    same: bool | UnsetType = UNSET
    fields: float | UnsetType = UNSET
    text: float | UnsetType = UNSET
    unlike: tuple[str, ...] = ()
    reason: str | UnsetType = UNSET
    schema_version: str = SCHEMA_VERSION


class ForgottenPattern(Struct, frozen=True, kw_only=True, rename="camel"):
    """The pattern that was forgotten."""

    pattern_id: str
    schema_version: str = SCHEMA_VERSION


class FiledPattern(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """A pattern in a file: where its pages and its API lie, and nothing of anybody's login or trust."""

    url: Template
    page: PageTemplate = ""
    auth_type: AuthKind | None = None
    auth_headers: Annotated[tuple[Annotated[str, Meta(max_length=60)], ...], Meta(max_length=4)] = ()
    reason: Annotated[str, Meta(max_length=200)] = ""


class PatternFile(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What PATTERN_EXPORT answers, and PATTERN_IMPORT takes."""

    format: Literal["weft-patterns"]
    version: Literal[1]
    patterns: Annotated[tuple[FiledPattern, ...], Meta(max_length=MAX_IMPORTED)]


class ExportPatterns(Struct, frozen=True, kw_only=True):
    """PATTERN_EXPORT: the patterns of a domain, or of all, of which none was learned with a login."""

    domain: Domain | None = None


class ImportPatterns(Struct, frozen=True, kw_only=True):
    """PATTERN_IMPORT: keep the patterns of a file as hints."""

    file: PatternFile


class RefusedPattern(Struct, frozen=True, kw_only=True, rename="camel"):
    """A pattern that was not imported: its place in the file, from 0, and why."""

    number: int
    reason: str


class ImportedPatterns(Struct, frozen=True, kw_only=True, rename="camel"):
    """The hints that are new, and what was refused; what was known already is neither."""

    imported: tuple[str, ...]
    known: int
    refused: tuple[RefusedPattern, ...] = ()
    schema_version: str = SCHEMA_VERSION


class JudgePattern(PatternAsker, frozen=True, kw_only=True):
    """PATTERN_FEEDBACK: whether a pattern was right, and the address that would be, if somebody knows."""

    pattern_id: PatternId
    helpful: bool
    correct_url: Template | None = None


class PatternJudged(Struct, frozen=True, kw_only=True, rename="camel"):
    """A pattern after feedback, how far that has shifted its score, and the hint that a correction has become."""

    pattern: PatternInfo
    shift: float
    correction: PatternInfo | UnsetType = UNSET
    schema_version: str = SCHEMA_VERSION


class CallApi(PatternAsker, frozen=True, kw_only=True):
    """API_CALL: ask the requests of a pattern, with values for its slots; `login` opens the login of its profile."""

    pattern_id: PatternId
    parameters: dict[str, str] = {}
    login: bytes = b""


class ApiCalled(Struct, frozen=True, kw_only=True, rename="camel"):
    """What an API has answered, one JSON for each request of the pattern: words of the web, never instructions."""

    pattern_id: str
    urls: tuple[str, ...]
    answers: tuple[Any, ...]
    from_cache: bool = False
    trust: Trust = Trust.UNTRUSTED
    schema_version: str = SCHEMA_VERSION
