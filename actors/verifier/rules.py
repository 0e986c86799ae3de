"""The judgement of a fetched page: what is certain, else the first rule that objects, else the model."""

from __future__ import annotations

import re
from collections.abc import Callable

from actors.verdicts.certain import certain
from actors.verdicts.kinds import REASONS
from actors.verdicts.views import ClaimView, Finding, refused, remark, segments, split
from actors.verifier import model
from actors.verifier.data_bodies import error_in_data
from actors.verifier.lexicon import plain
from actors.verifier.model import Assessment
from actors.verifier.offers import offers, offers_at
from actors.verifier.requested import kinds_requested
from actors.verifier.stated import has_status_line, with_stated_status
from protocol.browse import MIN_CONTENT_CHARS
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

_EXPLAINED = 0.89
"""At most so probable is by its address what reads like an error: the host tells it from an article about errors."""

_THIN_CHARS = 1_000
"""Below this a page without semantic markers that has marks of loading may be a shell."""

_FENCED_PROBABILITY = 0.6
"""At most so probable to be whole is what is declared, and says, to be for subscribers."""

_SAYS_NOTHING_CHARS = 20
"""A page of less says nothing of what it is until its scripts have run, unless that is a phrase of a stand-in."""

_LONE_SHARE = 0.035
"""The least share of what a page shows that a single phrase of a stand-in makes: .039 was the least of 430."""

_TEASER_CHARS, _TEASER_END_CHARS = 2_500, 600
"""A page of no more content that speaks of subscribing at its end is a teaser, whatever it declares."""


class AssessedView(ClaimView, frozen=True):
    """A claim with what weighs its words and its structure."""

    assess: Callable[[PageClaim], Assessment]


def judge(claim: PageClaim, assess: Callable[[PageClaim], Assessment] = model.assess) -> Verdict:
    """Return what a page is: what is certain, else the first rule of `RULES` that objects, else what the model says."""
    page = AssessedView(claim, assess)
    return page.verdict(certain(page) or next(filter(None, (rule(page) for rule in RULES)), None) or _judged(page))


# How much of the page is there.


def _escalated(page: AssessedView) -> Finding | None:
    """Refuse what a browser would show otherwise, by the signals of the tier itself."""
    if page.rendered or not page.evidence.escalate:
        return None
    reason = f"A browser would show something else (signals: {', '.join(page.evidence.escalate)})"
    # What little this tier shows is not judged as if it were the page.
    probability = min(_judged(page).probability, LIKELY)
    return Finding(Code.CONTENT_REQUIRES_JS, reason, usable=not page.short, probability=probability)


def _cut_short(page: AssessedView) -> Finding | None:
    """Refuse what was ended by a limit before it was settled, unless a browser did no better."""
    if not page.evidence.cut_short:
        return None
    reason = f"The page was cut short ({page.evidence.cut_short})"
    if page.rendered and page.length >= USABLE_CHARS:
        return None
    return _may_be_more(page, Code.CONTENT_TOO_SHORT, reason, usable=page.length >= USABLE_CHARS)


_IN_PLACE, _NOTHING_IN_PLACE = "loading_main", "empty_main"
"""Marks of a main part without its content: no length makes up for the first, no chrome for the second."""


_WALLS = frozenset(
    {PageKind.CONSENT_WALL, PageKind.AGE_GATE, PageKind.LOGIN_WALL, PageKind.PAYWALL, PageKind.GEO_BLOCKED}
)
"""What asks something of a reader before the main part is filled: whoever is told that it is loading waits in vain."""


def _unfinished(page: AssessedView) -> Finding | None:
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
        before = _judged(page, beyond=False)
        return before if before.kind in _WALLS else refused(page, PageKind.EMPTY_SHELL, reason)
    return _may_be_more(page, Code.CONTENT_REQUIRES_JS, reason, usable=not page.short)


def _mostly_chrome(page: ClaimView) -> bool:
    return page.short or 2 * page.evidence.traits.chrome_chars > page.evidence.traits.chars


def _unsettled(page: AssessedView) -> Finding | None:
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


def _may_be_more(page: AssessedView, code: Code, reason: str, *, usable: bool) -> Finding:
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


_STATUS_NUMBER = re.compile(r"(?<!\d)[45]\d\d(?!\d)")


def _says_nothing(page: ClaimView) -> bool:
    """Return whether all that a page shows before its scripts have run is a word that may be anything."""
    traits, scripts = page.evidence.traits, page.evidence.scripts
    if page.scripted or not scripts or not 0 < traits.chars < _SAYS_NOTHING_CHARS:
        return False
    return not _has_words(page)


# What the words and the structure say: the model.


def _judged(page: AssessedView, *, beyond: bool = True) -> Finding:
    """Return what the model makes of a page, and the evidence beyond the page of it where that counts."""
    if page.evidence.traits.html_chars == 0:
        return Finding(None, remark(page), usable=True, probability=1.0)
    assessed = page.assess(page.claim)
    bound = assessed.refused_below
    healthy = _with_odds(assessed.healthy, _STATUS_LINE_ODDS if has_status_line(page) else 1.0)
    if healthy < bound and not _says_so(page):  # what only looks like a stand-in is as likely a small page
        healthy = bound
    healthy = _where_requested(page, healthy, assessed)
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
        remark(page),
        usable=True,
        probability=min(probability, _FENCED_PROBABILITY) if walls else probability,
        walls=walls,
        doubtful=probability < DOUBTFUL_BELOW and page.claim.absent_alike is None,
    )


def _where_requested(page: ClaimView, healthy: float, assessed: Assessment) -> float:
    """Return how probable a page is by its address too: a login, where that was requested, is a page."""
    requested = kinds_requested(page.claim.url)
    lifted = healthy + (1 - healthy) * assessed.share(requested)
    return max(healthy, min(lifted, _EXPLAINED)) if assessed.kind in _SPOKEN_STATUSES & requested else lifted


def _says_so(page: ClaimView) -> bool:
    """Return whether anything that a page shows is of a stand-in: nothing at all, a status, a form, marks, a phrase."""
    shown = page.evidence
    marked = shown.challenge or shown.login_form or shown.consent_wall or shown.traits.passwords
    return bool(not shown.visible.strip() or marked or _has_words(page))


def _has_words(page: ClaimView) -> bool:
    """Return whether a page shows a status or a phrase of any stand-in; one in passing is of none."""
    words = f"{page.evidence.traits.title} {page.evidence.visible}"
    count, share = model.phrases_in(words)
    return _STATUS_NUMBER.search(words) is not None or count > 1 or share >= _LONE_SHARE


_SPOKEN_STATUSES = frozenset({PageKind.NOT_FOUND, PageKind.GONE, PageKind.SERVER_ERROR})


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
    if free is None and page.length <= _TEASER_CHARS and not offers_at(page.claim.url):
        fenced = _offers_the_rest(content.markdown)
    return (PageKind.PAYWALL,) if fenced else ()


def _offers_the_rest(markdown: str) -> bool:
    """Return whether a text ends with a request to pay: two phrases of one, or a price by period and a link."""
    end = offers(markdown[-2 * _TEASER_END_CHARS :])
    phrases = model.phrases_of(plain(markdown)[-_TEASER_END_CHARS:], PageKind.PAYWALL)
    return phrases > 1 or (end.prices_per_period > 0 and end.offer_links > 0)


RULES: tuple[Callable[[AssessedView], Finding | None], ...] = (
    error_in_data,
    _escalated,
    _unfinished,
    _cut_short,
    _unsettled,
)
