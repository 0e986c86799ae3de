"""The rules of learning: what follows for the patterns of a domain from a page as it was rendered."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct, structs

from actors.learner.patterns.drafting import PatternDraft, SampledPage, accounts_for, drafted
from actors.learner.patterns.repairing import is_made, repaired
from actors.learner.patterns.sources.source import domain_of
from actors.patterns.addresses import Observed, match, page_template, requests_of
from actors.patterns.answer_checks import MAX_CHECKS, absences, mark_of, met
from actors.patterns.mapping import DriftError, Shown, UnknownCaseError, agreement, render
from actors.patterns.safety import refusal
from actors.patterns.shapes import drift_of
from actors.patterns.trust import MIN_PAGES, after_check, first_score, page_hash
from protocol.patterns.pattern import MAX_PATTERNS, AnswerCheck, ApiRequest, PagePattern, PatternSource
from protocol.patterns.sample import PageSample
from protocol.tiers import RenderTier

MAX_MARKS: Final = 100
"""Pages of a pattern whose words are known, so that an answer of one of them is not taken for another's."""

MARKS_OF_PAGE: Final = 4
"""Marks of one page that are known: what an API leaves out for a while is there again later."""

_ID_BYTES: Final = 10
_SLOT: Final = re.compile(r"\{[^{}]*\}")


class Changes(Struct, frozen=True):
    """Patterns to be written, and those that are replaced by them."""

    put: tuple[PagePattern, ...] = ()
    drop: tuple[str, ...] = ()


def learned(known: Sequence[PagePattern], sample: PageSample, others: Sequence[PageSample], now_ms: int) -> Changes:
    """Return what a page teaches; `known` are the patterns of its domain, `others` samples of its kind, newest first.

    A page whose pattern is known checks it: what makes the page as it was rendered is confirmed, what does not is
    induced anew, or decays. Of two pages of a kind and more a pattern is induced jointly; one page alone is a hint.
    Where a known pattern that was right no longer makes its pages, those that it did make say nothing of what does by
    now: of them alone none counts as reproduced, and newer ones are tried first.
    """
    page = _page_of(sample)
    own = [one for one in known if (one.profile, one.caller) == (sample.profile, sample.caller)]
    matching = [one for one in own if one.page and match(one.page, page.url) is not None]
    working = next((one for one in matching if one.mapping is not None), None)
    group = [*reversed(_alike(page, others, working)), page]
    shown = None if working is None else page.shown(working.requests, working.page)
    if working is not None and shown is not None and accounts_for(working, shown):
        confirmed = _confirmed(working, page, shown, now_ms)
        draft = drafted(group, working.page) if len(confirmed.reproduced) < MIN_PAGES else None
        if draft is None or len(draft.held_out) < MIN_PAGES:
            return Changes((confirmed,))
    else:
        draft = _drafted(working, shown, group)
    if draft is not None and len(draft.held_out) < MIN_PAGES and working is not None and _was_right(working):
        draft = None  # what is known of its pages is worth more than a draft that nothing bears out yet
    if draft is None and working is None:
        return _hint(matching, page, len(own), now_ms)
    if draft is None:
        return Changes() if working is None or shown is None else Changes((_unlike(working, page, now_ms),))
    replaced = _replaced(own, draft, group)
    if working is None and not replaced and len(own) >= MAX_PATTERNS:
        return Changes()
    return _changes(draft, working or (replaced[0] if replaced else None), (own, replaced), group, now_ms)


# -- a pattern that is known ------------------------------------------------------------------------------------------


def _confirmed(pattern: PagePattern, page: SampledPage, shown: Shown, now_ms: int) -> PagePattern:
    """Return a pattern that has made a page: what its answers do not meet is none of the checks that it needs."""
    checked = after_check(pattern, True, page.url, now_ms)  # noqa: FBT003 - the verdict
    light = pattern.light_only and page.sample.tier is RenderTier.LIGHTWEIGHT
    checks = met(pattern.checks, shown.slots, shown.answers)
    confirmed = structs.replace(checked, observations=pattern.observations + 1, light_only=light, checks=checks)
    return _marked(confirmed, [page])


def _unlike(pattern: PagePattern, page: SampledPage, now_ms: int) -> PagePattern:
    return after_check(pattern, False, page.url, now_ms)  # noqa: FBT003 - the verdict


# -- what is new ------------------------------------------------------------------------------------------------------


def _drafted(working: PagePattern | None, shown: Shown | None, group: Sequence[SampledPage]) -> PatternDraft | None:
    """Return what makes the pages of a group in the place of a pattern that does not."""
    if working is None:
        return drafted(group)
    if shown is not None and _says_more(working, shown):
        return drafted(group, working.page)
    fresh = _fresh(working, group)
    draft = repaired(working, group) or drafted(fresh, working.page)
    return draft or (_counting(drafted(group, working.page), fresh) if len(fresh) < len(group) else None)


def _fresh(pattern: PagePattern, group: Sequence[SampledPage]) -> list[SampledPage]:
    """Return the pages that tell what makes those of a kind now: what came after a pattern was right for the last time.

    When that was is not known any more once it has failed: then those count that it does not make. One that has made
    no page beyond those that it was drafted from was drafted from pages too much alike: that it does not make another
    is no change of the API, and they count as well.
    """
    was_right, since = _was_right(pattern), pattern.verified_at
    if was_right and not since:
        return [page for page in group if not is_made(pattern, page)]
    own = () if was_right else pattern.made_of
    return [page for page in group if not since or page.sample.at_ms > since or page_hash(page.url) in own]


def _was_right(pattern: PagePattern) -> bool:
    """Return whether a pattern has made a page beyond those that it was drafted from."""
    return bool(set(pattern.reproduced) - set(pattern.made_of)) or pattern.observations > len(pattern.made_of)


def _says_more(pattern: PagePattern, shown: Shown) -> bool:
    """Return whether a page is of a kind unseen so far, though its answers are as ever: then no API has changed."""
    echoes = [check for check in pattern.checks if check.slot]
    if pattern.mapping is None or len(met(echoes, shown.slots, shown.answers)) < len(echoes):
        return False
    if any(drift_of(shape, answer) for shape, answer in zip(pattern.shapes, shown.answers, strict=True)):
        return False
    if len(met(pattern.checks, shown.slots, shown.answers)) < len(pattern.checks):
        return True
    try:
        made = render(pattern.mapping, shown.answers, shown.url, shown.slots)
    except DriftError as error:
        return isinstance(error, UnknownCaseError)
    return not agreement(made, shown.page, shown.lines, shown.links).lines


def _counting(draft: PatternDraft | None, fresh: Sequence[SampledPage]) -> PatternDraft | None:
    """Return a draft that only the pages bear out which came after what it takes the place of was right."""
    if draft is None:
        return None
    urls = {page.url for page in fresh}
    return structs.replace(draft, held_out=tuple(url for url in draft.held_out if url in urls))


def _changes(
    draft: PatternDraft,
    former: PagePattern | None,
    known: tuple[Sequence[PagePattern], Sequence[PagePattern]],
    group: Sequence[SampledPage],
    now_ms: int,
) -> Changes:
    """Return a draft as a pattern; `known` are all that there are, and those of them that it takes the place of."""
    own, replaced = known
    pattern = former or _new_pattern(draft, group[-1].sample, now_ms)
    source = pattern.source if _asks_the_same(pattern.requests, draft.requests) else PatternSource.API_EXTRACTION
    gone = _gone(draft, former, own, group)
    pattern = structs.replace(
        pattern,
        page=draft.template,
        requests=draft.requests,
        shapes=draft.shapes,
        mapping=draft.mapping,
        checks=(*gone, *(check for check in draft.checks if check not in gone))[:MAX_CHECKS],
        source=source,
        score=first_score(source),
        reproduced=(),
        made_of=(),
        failures=0,
        observations=max(pattern.observations, len(group)),
        light_only=all(page.sample.tier is RenderTier.LIGHTWEIGHT for page in group),
        version=pattern.version + 1,
        mapping_version=pattern.version + 1,
        reason=f"reproduced from {len(draft.made_of)} pages",
    )
    for url in draft.held_out:
        pattern = after_check(pattern, True, url, now_ms)  # noqa: FBT003 - the verdict
    pattern = structs.replace(pattern, made_of=tuple(map(page_hash, draft.made_of)))
    pattern = _marked(pattern, group)
    dropped = tuple(one.pattern_id for one in replaced if one.pattern_id != pattern.pattern_id)
    return Changes((pattern,), dropped)


def _gone(
    draft: PatternDraft, former: PagePattern | None, own: Sequence[PagePattern], group: Sequence[SampledPage]
) -> tuple[AnswerCheck, ...]:
    """Return what the answers of a draft's pages have no more of what any pattern wrote that asks the same."""
    shown = [page.shown(draft.requests, draft.template) for page in group if page.url in draft.made_of]
    pages = [one.answers for one in shown if one is not None]
    alike = [one for one in own if one is former or _asks_the_same(one.requests, draft.requests)]
    return tuple(dict.fromkeys(check for one in alike for check in absences(one, pages)))


def _new_pattern(draft: PatternDraft, sample: PageSample, now_ms: int) -> PagePattern:
    return PagePattern(
        pattern_id=pattern_id(draft.template, draft.requests, sample),
        domain=domain_of(sample.final_url),
        page=draft.template,
        requests=draft.requests,
        source=PatternSource.API_EXTRACTION,
        score=0.0,
        created_at=now_ms,
        profile=sample.profile,
        caller=sample.caller,
        version=0,
    )


def _marked(pattern: PagePattern, pages: Sequence[SampledPage]) -> PagePattern:
    """Note what the answers of pages are known by: for another page they would be wrong."""
    marks = dict(pattern.marks)
    for page in pages:
        if mark := _mark(pattern, page):
            former = marks.pop(key := page_hash(page.url), ())
            marks[key] = (*(one for one in former if one != mark), mark)[-MARKS_OF_PAGE:]
    return structs.replace(pattern, marks=dict(list(marks.items())[-MAX_MARKS:]))


def _mark(pattern: PagePattern, page: SampledPage) -> str:
    """Return the mark of the answers of a page; "" where it has none."""
    shown = page.shown(pattern.requests, pattern.page)
    return "" if pattern.mapping is None or shown is None else mark_of(pattern.mapping, shown.answers)


def _asks_the_same(some: Sequence[ApiRequest], others: Sequence[ApiRequest]) -> bool:
    """Return whether two patterns make the same requests, however their slots are called."""
    requested, also = (
        {(one.method, _SLOT.sub("{}", one.url), _SLOT.sub("{}", one.body)) for one in requests}
        for requests in (some, others)
    )
    return requested == also


def _hint(matching: Sequence[PagePattern], page: SampledPage, kept: int, now_ms: int) -> Changes:
    """Return a hint at the API of a page, of which no other is known: nothing is made by it."""
    requests = requests_of([page.observed])
    if not requests or matching or kept >= MAX_PATTERNS:
        return Changes()
    template = page_template([page.url])
    hint = PagePattern(
        pattern_id=pattern_id(template, requests, page.sample),
        domain=domain_of(page.url),
        page=template,
        requests=requests,
        source=PatternSource.API_EXTRACTION,
        score=first_score(PatternSource.API_EXTRACTION),
        light_only=page.sample.tier is RenderTier.LIGHTWEIGHT,
        created_at=now_ms,
        profile=page.sample.profile,
        caller=page.sample.caller,
        reason="seen on one page",
    )
    return Changes((hint,))


def _replaced(own: Sequence[PagePattern], draft: PatternDraft, group: Sequence[SampledPage]) -> list[PagePattern]:
    """Return the patterns that a draft takes the place of: those of the same pages, and hints at one of them."""
    return [
        one
        for one in own
        if one.page == draft.template
        or (one.mapping is None and any(match(one.page, page.url) is not None for page in group))
    ]


# -- what both need ---------------------------------------------------------------------------------------------------


def pattern_id(template: str, requests: Sequence[ApiRequest], sample: PageSample) -> str:
    """Return the id of a new pattern: the same for whoever learns the same."""
    parts = (template, sample.profile, sample.caller, *(f"{one.method} {one.url} {one.body}" for one in requests))
    digest = hashlib.blake2b("\n".join(parts).encode("utf-8", "replace"), digest_size=_ID_BYTES)
    return f"pat_{digest.hexdigest()}"


def _page_of(sample: PageSample) -> SampledPage:
    exchanges = (one for one in sample.exchanges if not one.from_state and not refusal(one, sample.final_url))
    return SampledPage(sample, Observed(sample.final_url, tuple(exchanges), bool(sample.profile)))


def _alike(page: SampledPage, others: Sequence[PageSample], working: PagePattern | None) -> list[SampledPage]:
    """Return the samples whose addresses differ least from that of a page, or are of its pattern; the latest first."""
    most = max((_common(page.url, one.final_url) for one in others), default=0)
    pages = [
        _page_of(one)
        for one in others
        if _common(page.url, one.final_url) == most
        or (working is not None and match(working.page, one.final_url) is not None)
    ]
    return [one for one in pages if one.observed.exchanges]


def _common(url: str, other: str) -> int:
    """Count the segments that two addresses have in common."""
    pieces = zip(urlsplit(url).path.split("/"), urlsplit(other).path.split("/"), strict=False)
    return sum(one == another for one, another in pieces)
