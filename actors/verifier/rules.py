"""The judgement of a fetched page: certain rules, of which the first that objects decides, and else the model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from http import HTTPStatus

from actors.verifier import model
from actors.verifier.data_bodies import error_in_data
from actors.verifier.kinds import REASONS
from actors.verifier.lexicon import plain
from actors.verifier.model import Assessment
from actors.verifier.stated import has_status_line, with_stated_status
from actors.verifier.views import ClaimView, Finding, refused, same_site, segments, split
from protocol.browse import MIN_CONTENT_CHARS, ValidationDetails
from protocol.faults import Code
from protocol.page import PageKind
from protocol.pages import PageClaim, Verdict

USABLE_CHARS = 100
"""From here on a short page is better than none, where no better tier is left."""

SENT_CHARS = 200
"""From here on a short page with a heading and paragraphs was sent whole, whatever its scripts are for."""

LIKELY = 0.5
"""So probable, a page that may have more to it is given where no better tier is left."""

DOUBTFUL_BELOW = 0.9
"""A page that is less probable to be the right one is worth a question to its host."""

_ALIKE, _UNLIKE = 0.9, 0.5
_ALIKE_ODDS, _UNLIKE_ODDS, _ELSEWHERE_ODDS = 0.02, 1.5, 0.2
"""How the odds of a page change: where the host answers (nearly) the same to what cannot exist, where it answers
something else, and where another address of it gave the same text."""

_UNFINISHED_ODDS = 0.3
"""And where marks say that more is to come."""

_STATUS_LINE_ODDS = 0.05
"""And where a status of an error stands in a line of its own."""

_THIN_CHARS = 1_000
"""Below this a page without semantic markers that has marks of loading may be a shell."""

_FENCED_PROBABILITY = 0.6
"""At most so probable to be whole is what is declared, and says, to be for subscribers."""

_SAYS_NOTHING_CHARS = 20
"""A page of less says nothing of what it is until its scripts have run, unless that is a phrase of a stand-in."""

_TEASER_CHARS, _TEASER_END_CHARS = 2_500, 600
"""A page of no more content that speaks of subscribing at its end is a teaser, whatever it declares."""

_LITTLE_CHARS = 1_500
"""Characters up to which a page has little text of its own: marks of a challenge count there."""


def judge(claim: PageClaim, assess: Callable[[PageClaim], Assessment] = model.assess) -> Verdict:
    """Return what a page is: the first rule of `RULES` that objects decides, else what the model makes of it."""
    page = ClaimView.of(claim, assess)
    finding = next(filter(None, (rule(page) for rule in RULES)), None) or _judged(page)
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
        kind=finding.kind,
        probability=finding.probability,
        walls=finding.walls,
        doubtful=finding.doubtful,
        vendor=finding.vendor,
    )


# Barriers: a challenge, a limit, a border, a login.

_BLOCK_WORDS = (
    "unusual traffic",
    "automated queries",
    "automated requests",
    "your ip has been",
    "been temporarily blocked",
)
_LIMIT_WORDS = ("too many requests", "rate limit")
_GEO_WORDS = re.compile(
    r"(not|isn't|un)\s?available (in|from|to|for) (visitors |users )?(in |from )?(your|this) "
    r"(country|region|location|area)|geo-?(blocked|restricted)"
)
_LOGIN_PATH = re.compile(r"/(?:log[-_]?[io]n|sign[-_]?(?:in|on|up)|auth|register)(?:[/.]|$)", re.IGNORECASE)
_SPOKEN_MARKS = frozenset({"just a moment", "checking your browser", "human check", "captcha", "turnstile"})
"""Marks that an article or a form may have, too: the model weighs them."""

_REFUSALS = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_UNKNOWN_CLIENT = frozenset({HTTPStatus.UNAUTHORIZED})


def _challenge(page: ClaimView) -> Finding | None:
    # Sites load their bot detection on ordinary pages, too: marks say something only where there is little else.
    sure = [mark for mark in page.evidence.challenge if mark not in _SPOKEN_MARKS]
    bare = page.short and page.evidence.traits.chars < _LITTLE_CHARS
    marks = (*(page.evidence.challenge if page.status in _REFUSALS else sure), *page.evidence.vendors)
    if marks and (page.status in _REFUSALS or bare):
        reason = f"{REASONS[PageKind.CHALLENGE]} ({', '.join(dict.fromkeys(marks))})"
        return refused(page, PageKind.CHALLENGE, reason, vendor=marks[0])
    return None


def _rate_limit(page: ClaimView) -> Finding | None:
    if page.status in _REFUSALS and any(words in page.words for words in _BLOCK_WORDS):
        return refused(
            page, PageKind.RATE_LIMITED, f"The site blocks this client for its many requests ({page.status})"
        )
    # Before the words: "Too Many Requests" is what a plain 429 is called.
    if page.status == HTTPStatus.TOO_MANY_REQUESTS:
        kind = PageKind.RATE_LIMITED
        return Finding(Code.RATE_LIMIT_EXCEEDED, "The site allows fewer requests (429)", kind=kind)
    if page.status in _REFUSALS and any(words in page.words for words in _LIMIT_WORDS):
        return refused(page, PageKind.RATE_LIMITED, f"The site speaks of too many requests ({page.status})")
    return None


def _border(page: ClaimView) -> Finding | None:
    says_so = page.status == HTTPStatus.FORBIDDEN and _GEO_WORDS.search(page.words)
    if says_so or page.status == HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS:
        return refused(page, PageKind.GEO_BLOCKED, f"{REASONS[PageKind.GEO_BLOCKED]} ({page.status})")
    return None


def _login(page: ClaimView) -> Finding | None:
    offered = page.status == HTTPStatus.FORBIDDEN and page.evidence.login_form
    if offered or page.status in _UNKNOWN_CLIENT:
        return refused(page, PageKind.LOGIN_WALL, f"The page wants a login ({page.status})")
    got = split(page.claim.final_url).path
    wanted = _LOGIN_PATH.search(split(page.claim.url).path)
    if page.ok and not wanted and page.evidence.login_form and _LOGIN_PATH.search(got):
        return refused(page, PageKind.LOGIN_WALL, "The site led to its login instead of the page")
    return None


# What the status says.

_DENIED = 999
"""A status of its own kind, with which some sites turn programs away."""

_STATUSES: Mapping[int, tuple[Code, str]] = {
    HTTPStatus.PROXY_AUTHENTICATION_REQUIRED: (Code.HTTP_PROXY_REFUSED, "A proxy on the way wants a login"),
    _DENIED: (Code.BLOCKED_BOT_DETECTION, "The site turns programs away"),
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


_STATUS_KINDS: Mapping[int, PageKind] = {
    HTTPStatus.FORBIDDEN: PageKind.FORBIDDEN,
    HTTPStatus.NOT_FOUND: PageKind.NOT_FOUND,
    HTTPStatus.GONE: PageKind.GONE,
    HTTPStatus.SERVICE_UNAVAILABLE: PageKind.MAINTENANCE,
}


def _status(page: ClaimView) -> Finding | None:
    known = _STATUSES.get(page.status) or _CLASSES.get(page.status // 100)
    if known is None:
        return None
    failed = PageKind.SERVER_ERROR if page.status >= HTTPStatus.INTERNAL_SERVER_ERROR else PageKind.FORBIDDEN
    return Finding(known[0], f"{known[1]} ({page.status})", kind=_STATUS_KINDS.get(page.status, failed))


_STATUS_NUMBER = re.compile(r"(?<!\d)[45]\d\d(?!\d)")
_LANGUAGE = re.compile(r"[a-z]{2}([-_][a-z]{2,4})?", re.IGNORECASE)


def _landed_at_home(page: ClaimView) -> Finding | None:
    requested, got = split(page.claim.url), split(page.claim.final_url)
    deep, end = segments(requested), segments(got)
    was_deep = len(deep) > 1 or any("." in segment for segment in deep)
    is_home = not end or (len(end) == 1 and deep != end and _LANGUAGE.fullmatch(end[0]))
    # A query or a fragment with a path in it may be the page itself: /?p=12, /#/article/12.
    routed = got.query or got.fragment.startswith(("/", "!"))
    if was_deep and is_home and not routed and same_site(requested.hostname, got.hostname):
        return Finding(Code.SITE_STRUCTURE_CHANGED, "The site led to its home page instead of the page")
    return None


# How much of the page is there.


def _empty(page: ClaimView) -> Finding | None:
    if page.length:
        return None
    kind = PageKind.EMPTY_SHELL
    signs = ", ".join(filter(None, (*page.evidence.escalate, page.evidence.cut_short)))
    if page.scripted and not page.rendered and (page.evidence.scripts or signs):
        return refused(page, kind, f"The page shows no text in this tier (signals: {signs or 'none'})")
    if not page.rendered and (page.evidence.scripts or page.evidence.incomplete):
        return refused(page, kind, "The page has no text until its scripts run")
    return Finding(Code.CONTENT_EMPTY, "The page has no text", kind=kind)


def _escalated(page: ClaimView) -> Finding | None:
    """Refuse what a browser would show otherwise, by the signals of the tier itself."""
    if page.rendered or not page.evidence.escalate:
        return None
    reason = f"A browser would show something else (signals: {', '.join(page.evidence.escalate)})"
    # What little this tier shows is not judged as if it were the page.
    probability = min(_judged(page).probability, LIKELY)
    return Finding(Code.CONTENT_REQUIRES_JS, reason, usable=not page.short, probability=probability)


def _cut_short(page: ClaimView) -> Finding | None:
    """Refuse what was ended by a limit before it was settled, unless a browser did no better."""
    if not page.evidence.cut_short:
        return None
    reason = f"The page was cut short ({page.evidence.cut_short})"
    if page.rendered and page.length >= USABLE_CHARS:
        return None
    return _may_be_more(page, Code.CONTENT_TOO_SHORT, reason, usable=page.length >= USABLE_CHARS)


_IN_PLACE, _NOTHING_IN_PLACE = "loading_main", "empty_main"
"""Marks of a main part without its content: no length makes up for the first, no chrome for the second."""


def _unfinished(page: ClaimView) -> Finding | None:
    """Refuse what is still loading: where the main part is, or where little else is there."""
    marks, evidence = ", ".join(page.evidence.incomplete), page.evidence
    if not marks:
        return None
    shell = _IN_PLACE in evidence.incomplete or (_NOTHING_IN_PLACE in evidence.incomplete and _mostly_chrome(page))
    aside = evidence.traits.html_chars > 0 and not evidence.semantic and evidence.traits.chrome_chars > page.length
    thin = page.short or (not evidence.semantic and page.length < _THIN_CHARS)
    if not shell and (page.rendered or not (thin or aside)):
        return None
    reason = f"The page is still loading ({page.length} chars, marks: {marks})"
    if shell:
        return refused(page, PageKind.EMPTY_SHELL, reason)
    return _may_be_more(page, Code.CONTENT_REQUIRES_JS, reason, usable=not page.short)


def _mostly_chrome(page: ClaimView) -> bool:
    return page.short or 2 * page.evidence.traits.chrome_chars > page.evidence.traits.chars


def _unsettled(page: ClaimView) -> Finding | None:
    """Refuse a short page whose scripts have not run; one that has settled is as long as it is."""
    if not page.short or page.scripted or not page.evidence.markup or not page.evidence.scripts:
        return None
    reason = f"Content too short ({page.length} chars, min {MIN_CONTENT_CHARS})"
    usable = bool(page.evidence.semantic) or page.length >= USABLE_CHARS
    finding = _may_be_more(page, Code.CONTENT_TOO_SHORT, reason, usable=usable)
    traits = page.evidence.traits
    sent = page.length >= SENT_CHARS and traits.h1 and traits.paragraphs and not traits.app
    sure = traits.html_chars > 0 and finding.probability >= DOUBTFUL_BELOW
    return None if sure and sent else finding


def _may_be_more(page: ClaimView, code: Code, reason: str, *, usable: bool) -> Finding:
    """Refuse what another tier may show more of; what the model takes for something else is refused as that."""
    # A frame that every address of a host gets is alike to what is absent until its scripts have run.
    finding = _judged(page, beyond=False)
    if _says_nothing(page):
        return Finding(code, reason, probability=finding.probability)
    if finding.code is not None:
        return finding
    known = page.evidence.traits.html_chars > 0
    usable = usable or (known and finding.probability >= LIKELY)
    return Finding(code, reason, usable=usable, probability=finding.probability, walls=finding.walls)


def _says_nothing(page: ClaimView) -> bool:
    """Return whether all that a page shows before its scripts have run is a word that may be anything."""
    traits, scripts = page.evidence.traits, page.evidence.scripts
    if page.scripted or not scripts or not 0 < traits.chars < _SAYS_NOTHING_CHARS:
        return False
    words = f"{traits.title} {page.evidence.visible}"
    return not _STATUS_NUMBER.search(words) and not model.phrases_of(words, *PageKind)


# What the words and the structure say: the model.


def _judged(page: ClaimView, *, beyond: bool = True) -> Finding:
    """Return what the model makes of a page, and the evidence beyond the page of it where that counts."""
    if page.evidence.traits.html_chars == 0:
        return Finding(None, _remark(page), usable=True, probability=1.0)
    assessed = page.assess(page.claim)
    bound = assessed.refused_below
    healthy = _with_odds(assessed.healthy, _STATUS_LINE_ODDS if has_status_line(page) else 1.0)
    if _LOGIN_PATH.search(split(page.claim.url).path):  # a login is what was asked for
        healthy += (1 - healthy) * assessed.login
    probability = _with_odds(healthy, _odds(page, assessed.kind) if beyond else 1.0)
    if probability < bound:
        absent = PageKind.NOT_FOUND if page.rendered or not page.evidence.scripts else PageKind.EMPTY_SHELL
        kind = absent if healthy >= bound else with_stated_status(page, assessed.kind)
        though = f", though the site answered {page.status}" if kind in _SPOKEN_STATUSES else ""
        doubtful = probability > 1 - DOUBTFUL_BELOW and page.claim.absent_alike is None
        reason = f"{REASONS[kind]}{though} (probability {1 - probability:.2f})"
        vendor = page.evidence.challenge[0] if kind is PageKind.CHALLENGE and page.evidence.challenge else ""
        return refused(page, kind, reason, probability, vendor=vendor, doubtful=doubtful)
    walls = _fences(page)
    return Finding(
        None,
        _remark(page),
        usable=True,
        probability=min(probability, _FENCED_PROBABILITY) if walls else probability,
        walls=walls,
        doubtful=probability < DOUBTFUL_BELOW and page.claim.absent_alike is None,
    )


_SPOKEN_STATUSES = frozenset({PageKind.NOT_FOUND, PageKind.GONE, PageKind.SERVER_ERROR})


def _remark(page: ClaimView) -> str:
    """Return what is worth a word of a page that is accepted."""
    evidence = page.evidence
    if evidence.incomplete:
        return f"Whole, though it has marks of loading ({', '.join(evidence.incomplete)})"
    if evidence.cut_short:
        return f"The page was cut short ({evidence.cut_short})"
    if not page.short:
        return ""
    if not evidence.markup:
        return f"Short but whole: not a page with markup ({page.length} chars)"
    if page.scripted:
        return f"Short after its scripts have run ({page.length} chars)"
    return f"Short but whole: the page has no scripts ({page.length} chars)"


def _odds(page: ClaimView, kind: PageKind) -> float:
    """Return by what the odds of a page are multiplied for what is known beyond its own words."""
    alike, odds = page.claim.absent_alike, 1.0
    absent = kind in _SPOKEN_STATUSES  # a wall stands before the pages that exist alone
    if alike is not None and segments(split(page.claim.url)):
        odds = _ALIKE_ODDS if alike >= _ALIKE else _UNLIKE_ODDS if alike < _UNLIKE and absent else 1.0
    if page.claim.same_text_elsewhere:
        odds *= _ELSEWHERE_ODDS
    return odds * _UNFINISHED_ODDS if page.evidence.incomplete and not page.evidence.semantic else odds


def _with_odds(probability: float, odds: float) -> float:
    changed = probability * odds
    return changed / (changed + 1 - probability) if changed else 0.0


def _fences(page: ClaimView) -> tuple[PageKind, ...]:
    """Return what fences a part of a page that is given: it is declared and said, or said at the end of little text."""
    free, content = page.evidence.traits.free, page.claim.opening.content
    fenced = free is False and model.speaks_of(page.claim, PageKind.PAYWALL)
    if free is None and MIN_CONTENT_CHARS <= page.length <= _TEASER_CHARS:
        end = plain(content.markdown)[-_TEASER_END_CHARS:]
        fenced = model.phrases_of(end, PageKind.PAYWALL) > 1
    return (PageKind.PAYWALL,) if fenced else ()


RULES: tuple[Callable[[ClaimView], Finding | None], ...] = (
    _challenge,
    _rate_limit,
    _border,
    _login,
    _status,
    _landed_at_home,
    _empty,
    error_in_data,
    _escalated,
    _unfinished,
    _cut_short,
    _unsettled,
)
