"""The judgement of a fetched page: a table of rules, of which the first that applies decides."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import SplitResult, urlsplit

from protocol.browse import MIN_CONTENT_CHARS, ValidationDetails
from protocol.faults import Code
from protocol.pages import ErrorPage, PageClaim, PageEvidence, Verdict

THIN_CONTENT_CHARS = 1_000
"""Below this a page without semantic markers may be a shell."""

USABLE_CHARS = 100
"""From here on a short page is better than none, where no better tier is left."""


def judge(claim: PageClaim) -> Verdict:
    """Say what a page is: the first rule of `RULES` that applies decides; what none objects to is accepted."""
    page = _Page.of(claim)
    finding = next(filter(None, (rule(page) for rule in RULES)), _ACCEPTED)
    return Verdict(
        details=ValidationDetails(
            content_length=page.length,
            has_semantic_markers=bool(page.evidence.semantic),
            has_incomplete_markers=bool(page.evidence.incomplete),
            meets_min_length=page.length >= MIN_CONTENT_CHARS,
        ),
        code=finding.code,
        usable=finding.usable,
        reasons=(finding.reason,) if finding.reason else (),
    )


@dataclass(frozen=True)
class _Finding:
    """What a rule says: accepted when `code` is None."""

    code: Code | None
    reason: str
    usable: bool = False


_ACCEPTED = _Finding(None, "", usable=True)


@dataclass(frozen=True)
class _Page:
    """A claim with its words in the form that the rules compare: case folded, one kind of apostrophe and space."""

    claim: PageClaim
    words: str

    @classmethod
    def of(cls, claim: PageClaim) -> _Page:
        title, markdown = claim.opening.content.title, claim.opening.content.markdown
        return cls(claim, _plain(f"{title} {markdown}"))

    @property
    def evidence(self) -> PageEvidence:
        return self.claim.evidence

    @property
    def status(self) -> int:
        return self.claim.status

    @property
    def length(self) -> int:
        return self.claim.evidence.content_length

    @property
    def short(self) -> bool:
        return self.length < MIN_CONTENT_CHARS

    @property
    def ok(self) -> bool:
        """Whether the site itself says that this is the page."""
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES

    @property
    def scripted(self) -> bool:
        """Whether the tier ran the page's scripts."""
        return self.claim.tier.spec.runs_scripts

    @property
    def rendered(self) -> bool:
        """Whether a real browser ran the scripts, so that there is nothing more to come."""
        return self.claim.tier.spec.is_browser


def _plain(text: str) -> str:
    return " ".join(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").replace("\\", "").casefold().split())


# Barriers: a challenge, a limit, a border, a login.

_BLOCK_WORDS = ("unusual traffic", "automated queries", "automated requests", "your ip has been", "temporarily blocked")
_LIMIT_WORDS = ("too many requests", "rate limit")
_GEO_WORDS = re.compile(
    r"(not|isn't|un)\s?available (in|from|to|for) (visitors |users )?(in |from )?(your|this) "
    r"(country|region|location|area)|geo-?(blocked|restricted)"
)
_LOGIN_PATH = re.compile(r"/(?:log[-_]?[io]n|sign[-_]?(?:in|on|up)|auth|register)(?:[/.]|$)", re.IGNORECASE)
_REFUSALS = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_UNKNOWN_CLIENT = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.PROXY_AUTHENTICATION_REQUIRED})


def _challenge(page: _Page) -> _Finding | None:
    # Sites load their bot detection on ordinary pages, too: on a long page that was served, marks say nothing.
    if page.evidence.challenge and (page.status in _REFUSALS or page.short):
        marks = ", ".join(page.evidence.challenge)
        return _Finding(Code.BLOCKED_BOT_DETECTION, f"The site shows a challenge to programs ({marks})")
    return None


def _rate_limit(page: _Page) -> _Finding | None:
    if page.status in _REFUSALS and any(words in page.words for words in _BLOCK_WORDS):
        return _Finding(Code.BLOCKED_RATE_LIMITED, f"The site blocks this client for its many requests ({page.status})")
    # Before the words: "Too Many Requests" is what a plain 429 is called.
    if page.status == HTTPStatus.TOO_MANY_REQUESTS:
        return _Finding(Code.RATE_LIMIT_EXCEEDED, "The site allows fewer requests (429)")
    if page.status in _REFUSALS and any(words in page.words for words in _LIMIT_WORDS):
        return _Finding(Code.BLOCKED_RATE_LIMITED, f"The site speaks of too many requests ({page.status})")
    return None


def _border(page: _Page) -> _Finding | None:
    says_so = page.status == HTTPStatus.FORBIDDEN and _GEO_WORDS.search(page.words)
    if says_so or page.status == HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS:
        return _Finding(Code.BLOCKED_GEO_RESTRICTED, f"The site is closed to this region ({page.status})")
    return None


def _login(page: _Page) -> _Finding | None:
    code = Code.AUTH_SESSION_EXPIRED if page.claim.session else Code.AUTH_MISSING_SESSION
    offered = page.status == HTTPStatus.FORBIDDEN and page.evidence.login_form
    if offered or page.status in _UNKNOWN_CLIENT:
        return _Finding(code, f"The page wants a login ({page.status})")
    wanted = _LOGIN_PATH.search(_split(page.claim.url).path)
    if page.ok and page.short and page.evidence.login_form and not wanted:
        return _Finding(code, "A login form stands where the page should be")
    return None


# What the status says.

_STATUSES: Mapping[int, tuple[Code, str]] = {
    HTTPStatus.FORBIDDEN: (Code.HTTP_FORBIDDEN, "The site refuses access to this page"),
    HTTPStatus.NOT_FOUND: (Code.HTTP_NOT_FOUND, "The page does not exist"),
    HTTPStatus.GONE: (Code.HTTP_NOT_FOUND, "The page is gone for good"),
    HTTPStatus.BAD_GATEWAY: (Code.HTTP_BAD_GATEWAY, "A server behind the site failed"),
    HTTPStatus.SERVICE_UNAVAILABLE: (Code.HTTP_SERVICE_UNAVAILABLE, "The site is overloaded or down for maintenance"),
    HTTPStatus.GATEWAY_TIMEOUT: (Code.HTTP_BAD_GATEWAY, "A server behind the site gave no answer"),
}
_CLASSES = {
    4: (Code.HTTP_CLIENT_ERROR, "The site refused the request"),
    5: (Code.HTTP_SERVER_ERROR, "The site failed"),
}


def _status(page: _Page) -> _Finding | None:
    known = _STATUSES.get(page.status) or _CLASSES.get(page.status // 100)
    return _Finding(known[0], f"{known[1]} ({page.status})") if known else None


# Error pages that call themselves a success.

_ERROR_PAGES: Mapping[ErrorPage, tuple[Code, str]] = {
    ErrorPage.NOT_FOUND: (Code.HTTP_NOT_FOUND, "The page says that it does not exist"),
    ErrorPage.SERVER_ERROR: (Code.HTTP_SERVER_ERROR, "The page reports an error of its server"),
}


def _soft_error(page: _Page) -> _Finding | None:
    if not page.ok or page.evidence.error_page is None:
        return None
    code, reason = _ERROR_PAGES[page.evidence.error_page]
    return _Finding(code, f"{reason}, though the site answered {page.status}")


def _consent(page: _Page) -> _Finding | None:
    """Refuse what asks for consent instead of showing the page: a browser may get past it."""
    if page.evidence.consent_wall:
        code = Code.CONTENT_TOO_SHORT if page.rendered else Code.CONTENT_REQUIRES_JS
        return _Finding(code, "A request for consent stands where the page should be")
    return None


_INDEX = re.compile(r"(index|default|home|main)(\.\w+)?", re.IGNORECASE)
_LANGUAGE = re.compile(r"[a-z]{2}([-_][a-z]{2,4})?", re.IGNORECASE)


def _landed_at_home(page: _Page) -> _Finding | None:
    requested, got = _split(page.claim.url), _split(page.claim.final_url)
    deep, end = _segments(requested), _segments(got)
    was_deep = len(deep) > 1 or any("." in segment for segment in deep)
    is_home = not end or (len(end) == 1 and deep != end and _LANGUAGE.fullmatch(end[0]))
    # A query or a fragment with a path in it may be the page itself: /?p=12, /#/article/12.
    routed = got.query or got.fragment.startswith(("/", "!"))
    if was_deep and is_home and not routed and _same_site(requested.hostname, got.hostname):
        return _Finding(Code.SITE_STRUCTURE_CHANGED, "The site led to its home page instead of the page")
    return None


def _segments(url: SplitResult) -> list[str]:
    segments = [segment for segment in url.path.split("/") if segment]
    return segments[:-1] if segments and _INDEX.fullmatch(segments[-1]) else segments


def _same_site(requested: str | None, got: str | None) -> bool:
    one, other = (host.removeprefix("www.") if host else "" for host in (requested, got))
    return one == other or one.endswith(f".{other}") or other.endswith(f".{one}")


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", "", "", "")


# How much of the page is there.


def _empty(page: _Page) -> _Finding | None:
    if page.length:
        return None
    signs = ", ".join(filter(None, (*page.evidence.escalate, page.evidence.cut_short)))
    if page.scripted and not page.rendered and (page.evidence.scripts or signs):
        return _Finding(Code.CONTENT_REQUIRES_JS, f"The page shows no text in this tier (signals: {signs or 'none'})")
    if not page.rendered and (page.evidence.scripts or page.evidence.incomplete):
        return _Finding(Code.CONTENT_REQUIRES_JS, "The page has no text until its scripts run")
    return _Finding(Code.CONTENT_EMPTY, "The page has no text")


def _whole(page: _Page) -> _Finding | None:
    """Accept what cannot grow: no markup, or a browser has run the scripts already."""
    if not page.short:
        return _ACCEPTED if page.rendered or not page.evidence.markup else None
    if not page.evidence.markup:
        return _Finding(None, f"Short but whole: not a page with markup ({page.length} chars)", usable=True)
    if page.rendered:
        return _Finding(None, f"Short after its scripts have run ({page.length} chars)", usable=True)
    return None


def _unfinished(page: _Page) -> _Finding | None:
    marks = ", ".join(page.evidence.incomplete)
    if not marks or (page.evidence.semantic and not page.short) or page.length >= THIN_CONTENT_CHARS:
        return None
    reason = f"The page is still loading ({page.length} chars, marks: {marks})"
    return _Finding(Code.CONTENT_REQUIRES_JS, reason, usable=not page.short)


def _escalated(page: _Page) -> _Finding | None:
    """Refuse what a browser would show otherwise, by the signals of the tier itself."""
    if page.rendered or not page.evidence.escalate:
        return None
    signs = ", ".join(page.evidence.escalate)
    return _Finding(
        Code.CONTENT_REQUIRES_JS, f"A browser would show something else (signals: {signs})", usable=not page.short
    )


def _cut_short(page: _Page) -> _Finding | None:
    """Refuse what was ended by a limit before it was settled, unless a browser did no better."""
    if not page.evidence.cut_short:
        return None
    reason = f"The page was cut short ({page.evidence.cut_short})"
    usable = page.length >= USABLE_CHARS
    if page.rendered and usable:
        return _Finding(None, reason, usable=True)
    return _Finding(Code.CONTENT_TOO_SHORT, reason, usable=usable)


def _too_short(page: _Page) -> _Finding | None:
    if not page.short:
        return None
    if not page.evidence.scripts and not page.scripted:
        return _Finding(None, f"Short but whole: the page has no scripts ({page.length} chars)", usable=True)
    reason = f"Content too short ({page.length} chars, min {MIN_CONTENT_CHARS})"
    usable = bool(page.evidence.semantic) or page.length >= USABLE_CHARS
    return _Finding(Code.CONTENT_TOO_SHORT, reason, usable=usable)


RULES: tuple[Callable[[_Page], _Finding | None], ...] = (
    _challenge,
    _rate_limit,
    _border,
    _login,
    _status,
    _soft_error,
    _landed_at_home,
    _consent,
    _empty,
    _escalated,
    _cut_short,
    _whole,
    _unfinished,
    _too_short,
)
