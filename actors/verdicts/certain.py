"""What is certain of a page without weighing its words: by its status, address and marks, or as data that was sent.

Who gets a page asks here first, and the verifier for what is left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from http import HTTPStatus

from actors.verdicts.kinds import REASONS
from actors.verdicts.views import ClaimView, Finding, refused, remark, same_site, segments, split
from protocol.faults import Code
from protocol.page import PageKind
from protocol.pages import PageClaim, Verdict

_LITTLE_CHARS = 1_500
"""Characters up to which a page has little text of its own: marks of a challenge count there."""

_MOST_ERROR_CHARS = 1_000
"""Whoever writes more says more than that there is nothing."""

_MOST_ERROR_WORDS_CHARS = 160
"""The same of plain text."""


def certain_verdict(claim: PageClaim) -> Verdict | None:
    """Return what a page certainly is; None where its words must be weighed."""
    page = ClaimView(claim)
    finding = certain(page)
    return None if finding is None else page.verdict(finding)


def certain(page: ClaimView) -> Finding | None:
    """Return what the first rule of `RULES` that is sure says."""
    return next(filter(None, (rule(page) for rule in RULES)), None)


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
LOGIN_PATH = re.compile(
    r"/(?:(?:log|sign)[-_]?(?:in|on|up)|auth|register|registration|anmeld(?:en|ung)|einloggen|registrier(?:en|ung)"
    r"|connexion|se-connecter|inscription|identification|iniciar-sesion|acceder|acceso|registro|accedi|accesso"
    r"|registrati|entrar|iniciar-sessao|cadastro|registo|inloggen|aanmelden|logowanie|zaloguj|rejestracja|logga-in"
    r"|giris|password|uye-ol|vhod|voiti)(?:[/.]|$)",
    re.IGNORECASE,
)
"""The address of a login or a registration, in the words of several languages."""
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
    wanted = LOGIN_PATH.search(split(page.claim.url).path)
    if page.ok and not wanted and page.evidence.login_form and LOGIN_PATH.search(got):
        return refused(page, PageKind.LOGIN_WALL, "The site led to its login instead of the page")
    return None


# What the status says.

_DENIED = 999
"""A status of its own kind, with which some sites turn programs away."""

_STATUSES: Mapping[int, tuple[Code, str]] = {
    HTTPStatus.NOT_MODIFIED: (
        Code.HTTP_SERVER_ERROR,
        "The site said that nothing has changed, though it was asked for the page as it is",
    ),
    HTTPStatus.PAYMENT_REQUIRED: (Code.CONTENT_PAYWALLED, "The site wants to be paid for this page"),
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
    HTTPStatus.NOT_MODIFIED: PageKind.SERVER_ERROR,
    HTTPStatus.PAYMENT_REQUIRED: PageKind.PAYWALL,
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


# What is data, and no error.


def _whole_data(page: ClaimView) -> Finding | None:
    """Accept what came without markup and cannot be an error: nothing stands in its place, nothing more is to come."""
    evidence = page.evidence
    to_come = evidence.escalate or evidence.incomplete or evidence.cut_short
    if evidence.markup or evidence.traits.html_chars or to_come or may_be_error(page):
        return None
    return Finding(None, remark(page), usable=True, probability=1.0)


def may_be_error(page: ClaimView) -> bool:
    """Return whether a body without markup is as short as one that says that there is no page."""
    body = page.evidence.visible.strip()
    if page.evidence.markup or not body or page.length > _MOST_ERROR_CHARS:
        return False
    return body.startswith(("{", "[")) or len(body) <= _MOST_ERROR_WORDS_CHARS


# What says more than anything that stands in a page's place.

_LONG_CHARS, _PROSE_SHARE = 5_000, 0.8
"""Characters of content, and the share of them in sentences, that only the page itself has: of 437 pages that stood in
its place the longest had 3,157. Of the pages that were right 728 had so many; the model refused none of them."""

_LONG_PROBABILITY = 0.99
"""How probable these were to be right: by the model .996 and more, but for one in a hundred."""


def _long_text(page: ClaimView) -> Finding | None:
    """Accept what says so much in sentences that nothing stands in its place; any mark leaves it to the model."""
    shown, traits = page.evidence, page.evidence.traits
    more_to_come = shown.escalate or shown.incomplete or shown.cut_short
    barred = shown.challenge or shown.vendors or shown.login_form or traits.passwords or traits.free is False
    if not page.ok or more_to_come or barred or shown.error_page or shown.consent_wall:
        return None
    if page.length < _LONG_CHARS or traits.prose_chars < _PROSE_SHARE * _LONG_CHARS:
        return None
    return Finding(None, remark(page), usable=True, probability=_LONG_PROBABILITY)


RULES: tuple[Callable[[ClaimView], Finding | None], ...] = (
    _challenge,
    _rate_limit,
    _border,
    _login,
    _status,
    _landed_at_home,
    _empty,
    _whole_data,
    _long_text,
)
