"""Drafts what makes the pages of a kind of their JSON answers, and tells which pages bear it out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import repeat
from typing import Any, Final

import msgspec
from msgspec import Struct, structs

from actors.patterns.addresses import Observed, answers_of, match, page_template, requests_of
from actors.patterns.answer_checks import checks_of, met
from actors.patterns.mapping import Agreement, DriftError, Shown, agreement, induce, leaves_out, render
from actors.patterns.shapes import drift_of, shape_of
from actors.patterns.trust import MIN_PAGES
from protocol.documents import WebObservationSummary
from protocol.patterns.mapping import PageMapping
from protocol.patterns.pattern import MAX_REQUESTS, AnswerCheck, ApiRequest, PagePattern
from protocol.patterns.sample import PageSample

PAGES_TOGETHER: Final = (5, 3)
"""How many pages of a kind a mapping is induced from at once, at most; further ones bear it out, or not."""

_FEWEST: Final = 2
_EPOCH: Final = datetime.fromtimestamp(0, UTC)


class SampledPage(Struct, frozen=True):
    """A sample, and what of it may be learned from."""

    sample: PageSample
    observed: Observed

    @property
    def url(self) -> str:
        """Return the address of the page."""
        return self.sample.final_url

    def shown(self, requests: Sequence[ApiRequest], template: str) -> Shown | None:
        """Return the page with its answers to these requests; None where it has not made them all."""
        slots, answers = match(template, self.url), answers_of(requests, template, self.observed)
        if slots is None or answers is None:
            return None
        sample = self.sample
        return Shown(answers, sample.page, self.url, slots, sample.shown_lines, sample.shown_links)


class PatternDraft(Struct, frozen=True):
    """What a kind of page may be made by.

    `made_of` are the pages that it was induced from, `held_out` those that are made without having been made of them.
    """

    template: str
    requests: tuple[ApiRequest, ...]
    shapes: tuple[dict[str, Any], ...]
    mapping: PageMapping
    checks: tuple[AnswerCheck, ...]
    made_of: tuple[str, ...]
    held_out: tuple[str, ...] = msgspec.field(default=())


def drafted(group: Sequence[SampledPage], template: str = "") -> PatternDraft | None:
    """Induce what makes the latest pages of a group, or two of them; None where nothing does that makes no other wrong.

    The latest page of all comes last, and is made in any case. Of several drafts the one is taken that most pages bear
    out which it was not made of. `template` is one of their addresses that is known: it tells what else may vary.
    """
    best: PatternDraft | None = None
    for some in _choices(group):
        draft = _joint(some, [page for page in group if page not in some], template)
        if draft is not None and len(draft.held_out) >= MIN_PAGES:
            return draft
        if draft is not None and (best is None or len(draft.held_out) > len(best.held_out)):
            best = draft
    return best


def same_page(mapping: PageMapping, shown: Shown) -> bool:
    """Return whether a mapping makes a page as it was rendered."""
    compared = _compared(mapping, shown)
    return compared is not None and compared.same


def accounts_for(pattern: PagePattern, shown: Shown) -> bool:
    """Return whether a pattern makes a page as it was rendered, of answers whose shapes it knows."""
    known = zip(pattern.shapes, shown.answers, strict=True)
    return (
        pattern.mapping is not None
        and all(drift_of(shape, answer) is None for shape, answer in known)
        and same_page(pattern.mapping, shown)
    )


def _choices(group: Sequence[SampledPage]) -> Iterator[Sequence[SampledPage]]:
    """Yield the latest pages together, then fewer of them, then pairs of the last with one before it."""
    sizes = {min(most, len(group)) for most in PAGES_TOGETHER}
    yield from (group[-size:] for size in sorted(sizes, reverse=True) if size >= _FEWEST)
    if len(group) > _FEWEST:
        yield from ((other, group[-1]) for other in reversed(group[-min(sizes) : -1]))


def _joint(group: Sequence[SampledPage], others: Sequence[SampledPage], known: str) -> PatternDraft | None:
    is_known = bool(known) and all(match(known, page.url) is not None for page in group)
    template = known if is_known else page_template([page.url for page in group])
    requests = requests_of([page.observed for page in group], template) if template else None
    shown = [one for page in group if requests and (one := page.shown(requests, template)) is not None]
    if not requests or len(shown) < len(group) or (mapping := induce(shown)) is None:
        return None
    requests, shown, mapping = _leanest(requests, shown, mapping)
    requests = tuple(map(authorized, requests, repeat(group[-1]), shown[-1].answers))
    if not all(set(one.auth_headers) <= one.auth_places.keys() for one in requests):
        return None  # what authorizes them stands nowhere in the login
    draft = _draft_of(template, requests, shown, mapping)
    return _borne_out(draft, shown, [one for page in others if (one := page.shown(requests, template)) is not None])


def _draft_of(
    template: str, requests: tuple[ApiRequest, ...], shown: Sequence[Shown], mapping: PageMapping
) -> PatternDraft:
    return PatternDraft(
        template=template,
        requests=requests,
        shapes=tuple(shape_of([one.answers[number] for one in shown]) for number in range(len(requests))),
        mapping=mapping,
        checks=checks_of([(one.slots, one.answers) for one in shown], mapping, template),
        made_of=tuple(one.url for one in shown),
    )


def _borne_out(draft: PatternDraft, shown: Sequence[Shown], others: Sequence[Shown]) -> PatternDraft | None:
    """Return a draft with the pages that bear it out; None where it makes another with a line that is wrong.

    What it leaves out with extraction, which of other pages may keep it, the pages that it was made of do not bear out.
    """
    kept: list[str] = []
    for one in others:
        compared = _compared(draft.mapping, one) if _is_known(draft, one) else None
        if compared is not None and compared.lines:
            return None
        if compared is not None and compared.same:
            kept.append(one.url)
    if len(kept) < MIN_PAGES and not any(_leaves_out(draft.mapping, one) for one in shown):
        kept += _held_out(draft, shown)
    return structs.replace(draft, held_out=tuple(kept))


def _leanest(
    requests: tuple[ApiRequest, ...], shown: list[Shown], mapping: PageMapping
) -> tuple[tuple[ApiRequest, ...], list[Shown], PageMapping]:
    """Leave out the requests that no page needs: they would be asked in vain for every page."""
    number = len(requests) - 1
    while number >= 0 and len(requests) > 1:
        if not any(f"{{{number}:" in f"{one.url}{one.body}" for one in requests):
            fewer = tuple(_renumbered(one, number) for place, one in enumerate(requests) if place != number)
            less = [structs.replace(one, answers=(*one.answers[:number], *one.answers[number + 1 :])) for one in shown]
            if (leaner := induce(less)) is not None:
                requests, shown, mapping = fewer, less, leaner
        number -= 1
    return requests, shown, mapping


def _renumbered(request: ApiRequest, without: int) -> ApiRequest:
    url, body = request.url, request.body
    for number in range(without + 1, MAX_REQUESTS):
        url, body = url.replace(f"{{{number}:", f"{{{number - 1}:"), body.replace(f"{{{number}:", f"{{{number - 1}:")
    return structs.replace(request, url=url, body=body)


def authorized(request: ApiRequest, page: SampledPage, answer: object) -> ApiRequest:
    """Return the request that got an answer with the places in its login where its credentials stand."""
    exchange = next((one for one in page.observed.exchanges if one.body is answer), None)
    return request if exchange is None else structs.replace(request, auth_places=exchange.places)


def _held_out(draft: PatternDraft, shown: Sequence[Shown]) -> tuple[str, ...]:
    """Return pages that are made as they were rendered by what the others of their group alone teach: some suffice.

    Where one is, and none would be made wrong, those count as well of which the others teach that they are unlike.
    """
    kept: list[str] = []
    unlike: list[str] = []
    wrong = len(shown) <= _FEWEST
    for place, one in enumerate(shown):
        if len(kept) > MIN_PAGES:
            break
        others = [other for number, other in enumerate(shown) if number != place]
        if (mapping := induce(others)) is None:
            continue
        rest = _draft_of(draft.template, draft.requests, others, mapping)
        is_known = len(others) < _FEWEST or _is_known(rest, one)  # one page alone does not tell what may change
        compared = _compared(mapping, one) if is_known else None
        if compared is None:
            unlike.append(one.url)
        elif compared.same:
            kept.append(one.url)
        else:
            wrong |= compared.lines > 0
    return tuple(kept) if wrong or not kept else (*kept, *unlike)


def _is_known(draft: PatternDraft, shown: Shown) -> bool:
    """Return whether the answers of a page are such as a draft takes for those of its pages."""
    return len(met(draft.checks, shown.slots, shown.answers)) == len(draft.checks) and all(
        drift_of(shape, answer) is None for shape, answer in zip(draft.shapes, shown.answers, strict=True)
    )


def _compared(mapping: PageMapping, shown: Shown) -> Agreement | None:
    """Return how like a page is to what a mapping makes of its answers; None where it makes none of them."""
    made = _made(mapping, shown)
    return None if made is None else agreement(made, shown.page, shown.lines, shown.links)


def _leaves_out(mapping: PageMapping, shown: Shown) -> bool:
    """Return whether a page that is made lacks what it shows of its answers; of one that is not made nobody knows."""
    made = _made(mapping, shown)
    return made is not None and leaves_out(made, shown.answers, shown.lines)


def _made(mapping: PageMapping, shown: Shown) -> WebObservationSummary | None:
    """Return the page that a mapping makes of the answers of one; None where it makes none."""
    try:
        return render(mapping, shown.answers, shown.url, shown.slots, _EPOCH)
    except DriftError:
        return None
