"""What visits of a host show of its tiers, how that fades, and the histories that one navigator remembers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import assert_never

from msgspec import structs

from actors.navigator.attempts import Absent, Accepted, Attempt, Failed, Rejected, Skipped, Superseded, TooSlow
from actors.navigator.hosts import SHAPE, SiteKey
from protocol.faults import Code
from protocol.tiers import TIERS, Prior, RenderTier, TierHistory, TierRecord

HALF_LIFE_MS = 30 * 86_400_000
"""Sites are rebuilt once in months or years: what was seen this month counts, what is half a year old hardly does. A
host that is visited once a week still collects enough to be known by."""

KEPT = 0.9
"""What is left of older results after each new one, so that about ten count: with fewer, a site of which a third of
the pages needs more would be misjudged by chance, with more, a change would take longer to outweigh."""

SURPRISE = 0.02
"""A run of equal results that was less probable than this, by all that is known, shows that the site has changed."""

MIN_SURPRISE_RUN = 2
"""One page alone may be an odd one."""

INHERITED = 3.0
"""Results that a new host takes over at most from the other hosts of its domain, and a new shape of addresses from its
host: a few of its own outweigh them."""

LATEST = 0.3
"""The weight of the last visit in what a tier takes: about five of them count."""

_DIGITS = 4


class Evidence(Enum):
    """What an attempt says of its tier."""

    ENOUGH = auto()
    """It had the page."""
    NEEDS_MORE = auto()
    """The content shows that the page needs a better tier."""
    SUPERSEDED = auto()
    """A better tier that was started early had the page first."""
    NOTHING = auto()
    """The failure may be gone the next time, or has nothing to do with the tier."""


Lessons = Mapping[RenderTier, Evidence]
"""What the attempts of one visit say, by tier."""

NEEDS_MORE = frozenset(
    {
        Code.CONTENT_REQUIRES_JS,
        Code.CONTENT_EMPTY,
        Code.CONTENT_TOO_SHORT,
        Code.BROWSER_PAGE_HUNG,
    }
)
"""What is wrong with the content itself, and will be again. All else (network, limits, blocks, errors of the site,
crashes, what only this request wanted) may be gone the next time, so it teaches nothing."""


def took(attempts: Iterable[Attempt]) -> int:
    """Return what the tier took that had the page over the network, in ms; 0 where none did."""
    for attempt in attempts:
        if isinstance(attempt.outcome, Accepted) and not attempt.outcome.page.from_cache:
            return attempt.duration_ms
    return 0


def evidence_of(code: Code | None) -> Evidence:
    """Return what an attempt teaches that ended with `code`, or with an accepted page."""
    if code is None:
        return Evidence.ENOUGH
    return Evidence.NEEDS_MORE if code in NEEDS_MORE else Evidence.NOTHING


def lessons(attempts: Iterable[Attempt]) -> dict[RenderTier, Evidence]:
    """Return what the attempts of a visit teach; a tier that was not put to work is left out."""
    evidences = {attempt.tier: _lesson(attempt) for attempt in attempts}
    return {tier: evidence for tier, evidence in evidences.items() if evidence is not None}


def learned(history: TierHistory | None, visit: Lessons, now_ms: int, took_ms: int = 0) -> TierHistory | None:
    """Return what is known after a visit at `now_ms` (since the epoch), of which the answering tier took `took_ms`.

    A refusal counts when a better tier has had the page in the same visit: only then is it sure that there was one.
    """
    answers = [tier for tier, evidence in visit.items() if evidence is Evidence.ENOUGH]
    if not answers:
        return history
    answer = min(answers, key=_cost)
    now = faded(history or TierHistory(at_ms=now_ms), now_ms)
    tiers = {tier: _after(now.tiers.get(tier, TierRecord()), tier, answer, visit) for tier in TIERS[: answer.rank + 1]}
    if took_ms:
        tiers[answer] = _timed(tiers[answer], now_ms, took_ms)
    return structs.replace(now, tiers={**now.tiers, **tiers})


def faded(history: TierHistory, now_ms: int) -> TierHistory:
    """Return what is left of a history at `now_ms`; a clock that went back takes nothing away and adds nothing."""
    factor = 0.5 ** (max(now_ms - history.at_ms, 0) / HALF_LIFE_MS)
    tiers = {tier: _scaled(record, factor) for tier, record in history.tiers.items()}
    return TierHistory(at_ms=max(history.at_ms, now_ms), tiers=tiers)


def inherited(domain: TierHistory) -> TierHistory:
    """Return what a host that is new takes over from the other hosts of its domain, or a new shape from its host."""
    tiers: dict[RenderTier, TierRecord] = {}
    for tier, record in domain.tiers.items():
        weight = record.enough + record.refused
        left = _scaled(record, min(INHERITED / weight, 1.0)) if weight else record
        tiers[tier] = TierRecord(enough=left.enough, refused=left.refused)
    return TierHistory(at_ms=domain.at_ms, tiers=tiers)


def chance(record: TierRecord, prior: Prior) -> float:
    """Estimate how probable it is that the tier is enough, when no cheaper one is."""
    enough, refused = record.enough + prior.enough, record.refused + prior.refused
    return enough / (enough + refused)


def _lesson(attempt: Attempt) -> Evidence | None:
    match attempt.outcome:
        case Accepted(page=page):
            # What never had markup (JSON, PDF) is the same in every tier: it says nothing of the pages of its site.
            return Evidence.ENOUGH if page.evidence.markup else Evidence.NOTHING
        case Rejected(code=code):
            return evidence_of(code)
        case Failed(fault=failure):
            return evidence_of(failure.code)
        case Superseded():
            return Evidence.SUPERSEDED
        case Absent() | TooSlow() | Skipped():
            return None
        case _:
            assert_never(attempt.outcome)


def _after(record: TierRecord, tier: RenderTier, answer: RenderTier, visit: Lessons) -> TierRecord:
    """Return the record of a tier, up to that of the answer, after a visit."""
    here = visit.get(tier, None)
    below = [visit.get(other) for other in TIERS[: tier.rank]]
    refused = any(visit.get(other) is Evidence.NEEDS_MORE for other in TIERS[tier.rank : answer.rank])
    if refused:  # what is not enough in a better tier is not in this one
        record = _counted(record, tier, enough=False)
    elif tier is answer and Evidence.NOTHING not in below:  # else a cheaper tier might have been enough
        record = _counted(record, tier, enough=True)
    tried = here is not None and here is not Evidence.NOTHING
    return structs.replace(record, passed_over=0 if tried else record.passed_over + 1)


def _timed(record: TierRecord, now_ms: int, took_ms: int) -> TierRecord:
    before = record.took_ms or took_ms
    average = round(before + (took_ms - before) * LATEST)
    return structs.replace(record, took_ms=average, worked_ms=max(now_ms, record.worked_ms))


def _counted(record: TierRecord, tier: RenderTier, *, enough: bool) -> TierRecord:
    expected = chance(record, tier.spec.prior)
    alike = record.run > 0 if enough else record.run < 0
    run = (abs(record.run) if alike else 0) + 1
    odds = (record.odds if alike else 1.0) * (expected if enough else 1 - expected)
    if run >= MIN_SURPRISE_RUN and odds < SURPRISE:
        kept, before, odds = 0.0, run - 1.0, 1.0
    else:
        kept, before = KEPT, 0.0
    return structs.replace(
        record,
        enough=round(record.enough * kept + enough * (before + 1), _DIGITS),
        refused=round(record.refused * kept + (not enough) * (before + 1), _DIGITS),
        run=run if enough else -run,
        odds=float(f"{odds:.{_DIGITS}g}"),
    )


def _scaled(record: TierRecord, factor: float) -> TierRecord:
    enough, refused = round(record.enough * factor, _DIGITS), round(record.refused * factor, _DIGITS)
    return structs.replace(record, enough=enough, refused=refused)


def _cost(tier: RenderTier) -> int:
    return tier.rank


MAX_HOSTS = 20_000
"""Keys that are remembered, about 1 KB each; of what was longer unused, history is read again when it is written."""

MAX_SHAPES = 64
"""Shapes of addresses that one host is remembered by; the others share what is known of the host."""

MAX_WAITING = 100
"""Visits of one key that wait for the bus; what comes on top is not shared with the others."""

Lesson = tuple[Lessons, int, int]
"""What a visit teaches, when it ended (ms since the epoch), and how long the tier with the page took in ms."""


@dataclass
class CachedHistory:
    """One key: what is `stored` on the bus, the lessons `waiting` to be, and what is known `now` by both.

    `legacy` is what it began with, where nothing is stored.
    """

    legacy: TierHistory | None = None
    stored: TierHistory | None = None
    revision: int = 0
    waiting: list[Lesson] = field(default_factory=list[Lesson])
    now: TierHistory | None = None

    def refresh(self) -> None:
        """Work out what is known now."""
        nothing = self.stored is None and not self.waiting
        self.now = None if nothing else _with_lessons(self.stored or self.legacy, self.waiting)


@dataclass
class HistoryCache:
    """The keys, of which the one that was longest unused is forgotten first; `due` are those with lessons waiting.

    A host has a key, its domain has one, and each shape of its addresses that is remembered.
    """

    max_hosts: int = MAX_HOSTS
    due: dict[str, None] = field(default_factory=dict[str, None])
    _keys: OrderedDict[str, CachedHistory] = field(default_factory=OrderedDict[str, CachedHistory])
    _shapes: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def of(self, site: SiteKey) -> TierHistory | None:
        """Return what is known of addresses of this shape, or else of the host, or what its domain leaves to it."""
        host = self.of_host(site)
        return self._now(site.shape_key) or host

    def of_host(self, site: SiteKey) -> TierHistory | None:
        """Return what is known of a host, whatever the address, or else what its domain leaves to it."""
        return self._now(site.key) or self._inherited(site.domain_key)

    def learn(self, site: SiteKey, lesson: Lesson) -> None:
        """Learn a lesson of an address for its shape, its host and its domain."""
        shapes = self._shapes.get(site.key, ())
        if site.shape_key in shapes or len(shapes) < MAX_SHAPES:
            self.add(site.shape_key, lesson, heir_of=site.key if self._now(site.key) else site.domain_key)
        self.add(site.key, lesson, heir_of=site.domain_key)
        if site.domain_key is not None:
            self.add(site.domain_key, lesson)

    def add(self, key: str, lesson: Lesson, *, heir_of: str | None = None) -> None:
        """Learn a lesson at once, and let it wait for the bus; a new key begins with what `heir_of` leaves to it."""
        remembered = self._entry(key)
        if remembered.now is None:
            remembered.legacy = self._inherited(heir_of)
        remembered.now = _with_lessons(remembered.now or remembered.legacy, [lesson])
        if len(remembered.waiting) < MAX_WAITING:
            remembered.waiting.append(lesson)
            self.due[key] = None

    def update(self, key: str, value: TierHistory | None, revision: int) -> None:
        """Take what is on the bus by now, unless something newer was seen there already."""
        if key not in self._keys and value is None:
            return
        remembered = self._keys.get(key) or self._entry(key)
        if revision > remembered.revision:
            remembered.stored, remembered.revision = value, revision
            remembered.refresh()

    def stored(self, key: str) -> tuple[TierHistory | None, int]:
        """Return what was last seen on the bus, with its revision; 0 when there was none."""
        remembered = self._keys.get(key) or CachedHistory()
        return remembered.stored, remembered.revision

    def waiting(self, key: str) -> int:
        """Count the lessons of a key that wait."""
        return len(self._keys[key].waiting) if key in self._keys else 0

    def merged(self, key: str, stored: TierHistory | None, lessons: int) -> TierHistory | None:
        """Return what the first `lessons` that wait make of what is `stored`."""
        remembered = self._keys.get(key) or CachedHistory()
        return _with_lessons(stored or remembered.legacy, remembered.waiting[:lessons])

    def mark_written(self, key: str, value: TierHistory, revision: int, lessons: int) -> None:
        """Note that the first `lessons` that waited are in `value`, which is on the bus."""
        remembered = self._keys.get(key)
        if remembered is None:
            return
        del remembered.waiting[:lessons]
        if not remembered.waiting:
            self.due.pop(key, None)
        if revision >= remembered.revision:
            remembered.stored, remembered.revision = value, revision
        remembered.refresh()

    def _entry(self, key: str) -> CachedHistory:
        entry = self._keys.setdefault(key, CachedHistory())
        self._keys.move_to_end(key)
        self._count_shape(key, known=True)
        if len(self._keys) > self.max_hosts:
            oldest, _ = self._keys.popitem(last=False)
            self.due.pop(oldest, None)
            self._count_shape(oldest, known=False)
        return entry

    def _count_shape(self, key: str, *, known: bool) -> None:
        host, mark, _ = key.rpartition(SHAPE)
        if not mark:
            return
        shapes = self._shapes.setdefault(host, set())
        if known:
            shapes.add(key)
        else:
            shapes.discard(key)
        if not shapes:
            del self._shapes[host]

    def _now(self, key: str | None) -> TierHistory | None:
        """Return what is known of a key, which is in use."""
        cached = self._keys.get(key) if key is not None else None
        if cached is None or cached.now is None or key is None:
            return None
        self._keys.move_to_end(key)
        return cached.now

    def _inherited(self, key: str | None) -> TierHistory | None:
        known = self._now(key)
        return None if known is None else inherited(known)


def _with_lessons(history: TierHistory | None, lessons: Iterable[Lesson]) -> TierHistory | None:
    for visit, at_ms, took_ms in lessons:
        history = learned(history, visit, at_ms, took_ms)
    return history
