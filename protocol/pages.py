"""What travels between navigator, fetchers and verifier about one page."""

from __future__ import annotations

from enum import StrEnum
from hashlib import blake2b
from hmac import compare_digest
from typing import Annotated, Literal

from msgspec import Meta, Struct

from protocol.browse import (
    MAX_URL_CHARS,
    ApiPattern,
    BrowseOptions,
    ConsoleMessage,
    DecisionTrace,
    Freshness,
    LearningInsights,
    NetworkRequest,
    SelectorAttempt,
    TitleAttempt,
    ValidationDetails,
)
from protocol.confidence import Confidence, FieldConfidence, Score
from protocol.documents import Document, WebObservationSummary
from protocol.faults import Code
from protocol.page import PageKind
from protocol.patterns.use import PatternCall
from protocol.replicas import Watch
from protocol.tiers import RenderTier
from protocol.visits import VisitRequest

VISIBLE_CHARS = 4_000
"""How much of what a page shows travels to the verifier."""

Url = Annotated[str, Meta(min_length=1, max_length=MAX_URL_CHARS, pattern=r"\S")]


class BrowsePage(Struct, frozen=True, kw_only=True):
    """BROWSE: get this page by the cheapest tier that can; with `obey_robots`, if the site lets programs have it.

    `watch` is who wants to hear how far that is. With `single_shot` each tier asks its site once: whoever asks tries
    again by himself. `login` opens the login of `options.session_profile` as `caller` may use it (see LoginPass). With
    `outlinks` the answer has all that the page leads to. `reader` finds the page again by searching, where it was read
    without a login. A page that is `rendered` is shown by a tier with scripts, whatever is known of its API.
    """

    url: Url
    options: BrowseOptions = BrowseOptions()
    obey_robots: bool = False
    watch: Watch | None = None
    single_shot: bool = False
    caller: str = ""
    login: bytes = b""
    outlinks: bool = False
    reader: str = ""
    rendered: bool = False


class FetchPage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """FETCH: get this page in your tier and extract from it; the deadline is the call's own.

    With `single_shot` nothing that broke off is asked for again. `login` opens the login of the profile `session`, as
    `caller` may use it. `by` are the requests that are asked in the place of the page. `for_history` wants what the
    history of the reader shows of a visit: its requests in short and, of a browser, a picture.
    """

    url: Url
    freshness: Freshness = Freshness.ANY
    session: str | None = None
    include_html: bool = False
    include_network: bool = False
    include_console: bool = False
    wait_for_selector: str | None = None
    scroll_to_load: bool = False
    dismiss_overlays: bool = False
    obey_robots: bool = False
    screenshot: Screenshot | None = None
    pdf: bool = False
    single_shot: bool = False
    login: bytes = b""
    outlinks: bool = False
    caller: str = ""
    by: PatternCall | None = None
    for_history: bool = False


class Screenshot(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A picture that is to be taken of a page: of what the window shows, of the whole page, or of one element.

    `quality` counts for the formats that lose some, from 1 to 100.
    """

    form: Literal["png", "jpeg", "webp"] = "png"
    full_page: bool = False
    selector: str | None = None
    quality: Annotated[int, Meta(ge=1, le=100)] = 80


class Captured(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Bytes that were taken of a page, by their `name` in the object store CAPTURES; `size` in bytes."""

    kind: Literal["screenshot", "pdf", "download"]
    name: str
    media_type: str
    size: int
    file_name: str = ""


def capture_name(kind: str, chance: str, caller: str, ending: str = "") -> str:
    """Return the name of what was captured for a caller; `chance` is random, and has no hyphen."""
    return f"{kind}-{chance}-{_mark(chance, caller)}{ending}"


def is_capture_of(name: str, caller: str) -> bool:
    """Return whether something was captured for this caller, by its name."""
    _, _, rest = name.partition(".")[0].partition("-")
    chance, _, mark = rest.partition("-")
    return compare_digest(mark.encode(), _mark(chance, caller).encode())


def _mark(chance: str, caller: str) -> str:
    return blake2b(f"{chance} {caller}".encode(), digest_size=12).hexdigest()


class Dialog(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A dialog that the page opened, and that was dismissed; `message` is the web's, and cut."""

    kind: Literal["alert", "confirm", "prompt", "beforeunload"]
    message: str


class ErrorPage(StrEnum):
    """The error that a page says it is, whatever its status."""

    NOT_FOUND = "not_found"
    SERVER_ERROR = "server_error"


class PageTraits(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a page shows as a whole, its chrome (header, navigation, footer, asides) included; texts are cut.

    `chars` counts the characters of all that is shown, `chrome_chars` those in the chrome, `main_chars` those in
    `main` and `article`; `html_chars` is the size of the markup. `names` are classes and ids of the outer elements.
    `free` is the declared `isAccessibleForFree`; None where nothing is declared. `prose_chars` counts those in
    sentences outside the chrome, `longest` those of the longest paragraph there, `blocks` its blocks of text,
    `inline_links` the paragraphs with links in them, `description` the characters of the description, `declared` the
    types of its data. `app` tells that words stand in the root of an application, which its script may fill, `current`
    that the navigation marks where the page stands, `dated` and `signed` that it names a date and an author.
    """

    title: str = ""
    h1: str = ""
    names: str = ""
    chars: int = 0
    chrome_chars: int = 0
    main_chars: int = 0
    html_chars: int = 0
    headings: int = 0
    paragraphs: int = 0
    links: int = 0
    links_within: int = 0
    forms: int = 0
    inputs: int = 0
    passwords: int = 0
    buttons: int = 0
    images: int = 0
    styles: int = 0
    noindex: bool = False
    free: bool | None = None
    canonical_elsewhere: bool = False
    refresh: bool = False
    og_type: str = ""
    language: str = ""
    prose_chars: int = 0
    longest: int = 0
    blocks: int = 0
    inline_links: int = 0
    items: int = 0
    cells: int = 0
    description: int = 0
    metas: int = 0
    alternates: int = 0
    canonical: bool = False
    app: bool = False
    current: bool = False
    dated: bool = False
    signed: bool = False
    declared: str = ""


class PageEvidence(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the fetcher saw of the page's own markup, for the verifier to judge by; lengths in characters.

    `incomplete` and `challenge` hold the names of the marks that were found, `scripts` the number of scripts
    that the page loads or holds; `markup` is false for what never had any (JSON, plain text). `error_page` and
    `consent_wall` tell what stands where the content should be. `escalate` holds the names of the signals that a real
    browser would show something else, `cut_short` the limit that ended the page before it was settled;
    `lacks_awaited` is true where the element that was waited for never came. `visible` is what the page shows first,
    whatever its content is (`VISIBLE_CHARS` at most), `traits` what the whole page is like, `vendors` whose marks the
    answer carries in its headers and cookies.
    """

    content_length: int
    markup: bool = True
    semantic: tuple[str, ...] = ()
    incomplete: tuple[str, ...] = ()
    challenge: tuple[str, ...] = ()
    login_form: bool = False
    scripts: int = 0
    error_page: ErrorPage | None = None
    consent_wall: bool = False
    escalate: tuple[str, ...] = ()
    cut_short: str = ""
    lacks_awaited: bool = False
    visible: str = ""
    traits: PageTraits = PageTraits()
    vendors: tuple[str, ...] = ()


class Outlinks(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a page leads to, for who walks through its site: the addresses of its links, absolute, in their order.

    Each stands there once; those that a reader cannot see and those of `rel=nofollow` are left out. `alternates` are
    the same page in other languages, by language tag. `noindex` and `nofollow` are what its meta tags and X-Robots-Tag
    say.
    """

    links: tuple[str, ...] = ()
    alternates: dict[str, str] = {}
    noindex: bool = False
    nofollow: bool = False


class Fetched(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A page as one tier got it: the extracted document, how sure each field is, and what was seen on the way.

    `fields` holds how sure each of the document's fields is, by its wire name; `apis` are those seen in the page's own
    source. Times in ms; `fetched_at` since the epoch. `retry_after_ms` is what the site asked for. `sample` names the
    PageSample that is told of it, `pattern` what the page was made by in the place of its own document. For the
    history `requests` are those that were made, in short, and `screenshot` names a picture in VISIT_SCREENSHOTS.
    """

    tier: RenderTier
    status: int
    final_url: str
    content_type: str
    document: Document[WebObservationSummary]
    evidence: PageEvidence
    title: Confidence
    content: Confidence
    tables: tuple[Confidence, ...] = ()
    fields: dict[str, Confidence] = {}
    apis: tuple[ApiPattern, ...] = ()
    selectors: tuple[SelectorAttempt, ...] = ()
    titles: tuple[TitleAttempt, ...] = ()
    fetched_at: int = 0
    from_cache: bool = False
    retry_after_ms: int | None = None
    retry_count: int = 0
    network: tuple[NetworkRequest, ...] = ()
    console: tuple[ConsoleMessage, ...] = ()
    captures: tuple[Captured, ...] = ()
    dialogs: tuple[Dialog, ...] = ()
    outlinks: Outlinks | None = None
    sample: str = ""
    pattern: str = ""
    requests: tuple[VisitRequest, ...] = ()
    screenshot: str = ""


class PageClaim(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """VERIFY: is this the page that was asked for, and whole?

    `opening` is the document's title and first words; `session` tells that a saved session was sent along.
    `absent_alike` is how similar the page is to what its host answers to an address that cannot exist (0 to 1; None:
    not asked), `same_text_elsewhere` whether another address of the host gave the same text.
    """

    url: Url
    final_url: str
    status: int
    tier: RenderTier
    evidence: PageEvidence
    opening: Document[WebObservationSummary]
    session: bool = False
    retry_after_ms: int | None = None
    absent_alike: float | None = None
    same_text_elsewhere: bool = False


class Verdict(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The verifier's answer. Accepted when `code` is None; otherwise `code` says what the page is instead.

    `usable` tells that the page may still be given as an answer when no better tier is left. `reasons` are for people.
    `kind` is what stands in the place of the page (`vendor` names whose challenge), `probability` (0 to 1) that this is
    the page that was asked for, and whole; it says nothing of how well it was read. A page that is accepted though part
    of it is fenced has `walls`. `doubtful` asks for evidence beyond the page.
    """

    details: ValidationDetails
    code: Code | None = None
    usable: bool = True
    reasons: tuple[str, ...] = ()
    kind: PageKind | None = None
    probability: Score = 1.0
    walls: tuple[PageKind, ...] = ()
    doubtful: bool = False
    vendor: str = ""


class Browsed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer to BROWSE: the page as it was accepted, and how it came about. `duration_ms` is the whole of it.

    `tiers_tried` are those that were put to work, in that order; `walls` is what fences off a part of the page.
    """

    url: str
    page: Fetched
    confidence: FieldConfidence
    duration_ms: int
    trace: DecisionTrace
    pages: int = 1
    tiers_tried: tuple[RenderTier, ...] = ()
    walls: tuple[PageKind, ...] = ()
    insights: LearningInsights | None = None


class PageBrowsed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The event that a browse has ended, well or not: no content, for those who learn from it.

    `profile` names the saved login that the site was asked with, as `caller` uses it, where it was asked. `sample` is
    that of the page, where it was accepted as its tier has shown it.
    """

    url: str
    duration_ms: int
    tier: RenderTier | None = None
    code: Code | None = None
    tiers_tried: tuple[RenderTier, ...] = ()
    profile: str | None = None
    caller: str = ""
    sample: str = ""
