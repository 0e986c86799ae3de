"""Learned APIs in the place of rendering: what all navigators know of them, when one may be asked, and what is told."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, Protocol

import anyio
from msgspec import Struct, structs

from actors import redact
from actors.navigator.attempts import Accepted, Attempt, Failed, Rejected
from actors.patterns.index import PatternIndex
from actors.patterns.trust import VERIFY_AGAIN_MS, decayed, is_overdue
from bus import Tables, follow
from bus.clock import now_ms
from protocol.browse import ApiPattern, LearningInsights, Part
from protocol.faults import Category, Code, Fault, FaultContext
from protocol.pages import BrowsePage, Fetched
from protocol.patterns.pattern import PagePattern
from protocol.patterns.use import Drift, PatternCall, PatternUsed
from protocol.subjects import PATTERNS
from protocol.tiers import RenderTier

NOT_WATCHED: Final = "patterns_not_watched"

LATEST_SHARE: Final = 0.3
"""What the latest page counts of what pages by a pattern take."""

_MADE_PARTS: Final = frozenset({Part.TABLES, Part.MARKDOWN})
"""What a pattern makes of a page beside its words; for other parts the page itself is shown."""


class ForeseenPattern(Struct, frozen=True):
    """A pattern that would be asked: how probable it is that it is enough, and what it took here, 0: nobody knows."""

    call: PatternCall
    chance: float
    took_ms: int = 0


class KnownPatterns(Protocol):
    """What a browse needs to know of learned APIs."""

    def find(self, page: BrowsePage) -> PatternCall | None:
        """Return what to ask in the place of a page, if something may be asked."""
        ...

    def wants_rendering(self, page: BrowsePage) -> bool:
        """Return whether a page is to be rendered though something may be asked, so that it verifies a pattern."""
        ...

    def hints(self, page: BrowsePage) -> tuple[ApiPattern, ...]:
        """Return the APIs that are known for a page's address, trusted or not."""
        ...

    def suspend(self, call: PatternCall) -> None:
        """Use a pattern no more before something new was learned of it."""
        ...

    def timed(self, call: PatternCall, took_ms: int) -> None:
        """Take in how long a pattern has taken for a page."""
        ...

    def foreseen(self, page: BrowsePage) -> ForeseenPattern | None:
        """Return what would be asked in the place of a page, and what is known of that."""
        ...


class NoPatterns:
    """Knows no API."""

    def find(self, page: BrowsePage) -> PatternCall | None:
        """Find none."""
        del page
        return None

    def wants_rendering(self, page: BrowsePage) -> bool:
        """Want none."""
        del page
        return False

    def hints(self, page: BrowsePage) -> tuple[ApiPattern, ...]:
        """Know none."""
        del page
        return ()

    def suspend(self, call: PatternCall) -> None:
        """Do nothing."""

    def timed(self, call: PatternCall, took_ms: int) -> None:
        """Do nothing."""

    def foreseen(self, page: BrowsePage) -> ForeseenPattern | None:
        """Foresee none."""
        del page
        return None


@dataclass
class SharedPatterns:
    """The patterns of all learners, read from a local index.

    The learner has no login, so what was learned with one is verified by a visit of its owner, every `verify_hours`.
    """

    bus: Tables
    verify_hours: int = 0
    clock: Callable[[], int] = now_ms
    index: PatternIndex = field(default_factory=PatternIndex)
    _suspended: dict[str, int] = field(default_factory=dict[str, int], init=False)
    """The version of each pattern that drifted here, until another is learned."""

    _took_ms: dict[str, int] = field(default_factory=dict[str, int], init=False)
    """What pages by each pattern took here, the later ones counting more."""

    _rendered: dict[str, int] = field(default_factory=dict[str, int], init=False)
    """When a page was last rendered to verify a pattern of a login, by its id."""

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[SharedPatterns]:
        """Follow what is learned as long as the block lasts."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow, self.bus, PATTERNS, self.update, NOT_WATCHED)
            yield self
            tasks.cancel_scope.cancel()

    def update(self, key: str, pattern: PagePattern | None, revision: int) -> None:
        """Take over what was learned or forgotten."""
        del revision
        if pattern is None:
            self.index.drop(key)
            self._rendered.pop(key, None)
            self._took_ms.pop(key, None)
        else:
            self.index.put(pattern)
        if pattern is None or pattern.version != self._suspended.get(key):
            self._suspended.pop(key, None)

    def find(self, page: BrowsePage) -> PatternCall | None:
        """Return what to ask in the place of a page, if something may be asked."""
        profile, caller = _login(page)
        call = self.index.find(page.url, profile, caller, self.clock())
        return None if call is None or self._suspended.get(call.pattern_id) == call.version else call

    def timed(self, call: PatternCall, took_ms: int) -> None:
        """Take in how long a pattern has taken for a page."""
        former = self._took_ms.get(call.pattern_id, took_ms)
        self._took_ms[call.pattern_id] = round(former + (took_ms - former) * LATEST_SHARE)

    def foreseen(self, page: BrowsePage) -> ForeseenPattern | None:
        """Return what would be asked in the place of a page, and what is known of that."""
        call = self.find(page) if may_use(page) else None
        pattern = None if call is None else self.index.get(call.pattern_id)
        if call is None or pattern is None:
            return None
        took_ms = self._took_ms.get(call.pattern_id, 0)
        return ForeseenPattern(call, decayed(pattern, self.clock()).score, took_ms)

    def wants_rendering(self, page: BrowsePage) -> bool:
        """Return whether a page is to be rendered though something may be asked, so that it verifies a pattern.

        It is said once in VERIFY_AGAIN_MS of each pattern, whatever comes of it.
        """
        now_ms, call = self.clock(), None if page.options.session_profile is None else self.find(page)
        pattern = None if call is None else self.index.get(call.pattern_id)
        if pattern is None or not is_overdue(pattern, self.verify_hours, now_ms):
            return False
        if now_ms - self._rendered.get(pattern.pattern_id, -VERIFY_AGAIN_MS) < VERIFY_AGAIN_MS:
            return False
        self._rendered[pattern.pattern_id] = now_ms
        return True

    def hints(self, page: BrowsePage) -> tuple[ApiPattern, ...]:
        """Return the APIs that are known for a page's address, trusted or not."""
        profile, caller = _login(page)
        return self.index.hints(page.url, profile, caller, self.clock())

    def suspend(self, call: PatternCall) -> None:
        """Use a pattern no more before something new was learned of it."""
        self._suspended[call.pattern_id] = call.version


def _login(page: BrowsePage) -> tuple[str, str]:
    profile = page.options.session_profile
    return ("", "") if profile is None else (profile, page.caller)


def may_use(page: BrowsePage) -> bool:
    """Return whether a page that is made of data has all that is asked for."""
    options = page.options
    return not (
        page.rendered
        or page.outlinks
        or options.force_tier not in (None, RenderTier.INTELLIGENCE)
        or options.include_html
        or options.include_network
        or options.include_console
        or options.wait_for_selector is not None
        or options.scroll_to_load
        or options.follow_pagination
        or set(options.include) - _MADE_PARTS
    )


def pattern_used(page: BrowsePage, attempt: Attempt, ladder: Sequence[Attempt], at_ms: int) -> PatternUsed | None:
    """Return what a use of a pattern teaches; `ladder` is what came of the tiers after it. None: nothing."""
    call = attempt.by
    if call is None:
        return None
    logged_in = page.options.session_profile is not None
    url = "" if logged_in else redact.url(page.url)  # which page of a login was read is nobody's business
    used = PatternUsed(pattern_id=call.pattern_id, domain=call.domain, url=url, at_ms=at_ms, version=call.version)
    match attempt.outcome:
        case Accepted():
            return used
        case Rejected(code=code):
            return structs.replace(used, drift=Drift.UNLIKE, where="verifier", code=code.value)
        case Failed(fault=failure):
            return _after_fault(used, failure, ladder, logged_in=logged_in)
        case _:
            return None


def _after_fault(used: PatternUsed, failure: Fault, ladder: Sequence[Attempt], *, logged_in: bool) -> PatternUsed:
    context = failure.context or FaultContext()
    used = structs.replace(used, code=failure.code.value, limited=failure.category is Category.RATE_LIMIT)
    if failure.code is Code.HTTP_NOT_FOUND and any(isinstance(one.outcome, Accepted) for one in ladder):
        return structs.replace(used, drift=Drift.STATUS)  # the page is there, and its API is not
    if context.drift is None:
        return structs.replace(used, transient=True)
    drift = Drift(context.drift)
    ended = drift is Drift.LOGIN_WALL and logged_in
    return structs.replace(used, drift=drift, where=context.where or "", login_ended=ended)


def is_drift(attempt: Attempt) -> bool:
    """Return whether an attempt by a pattern says that its API is no longer what it was."""
    failure = attempt.failure
    if not isinstance(failure, Failed):
        return failure is not None
    context = failure.fault.context
    is_new = context is not None and context.drift == Drift.NEW_KIND
    return failure.fault.code is Code.SITE_STRUCTURE_CHANGED and not is_new


def insights(page: Fetched, hints: Sequence[ApiPattern]) -> LearningInsights | None:
    """Return what was known of pages like this one, and used; None where nothing was."""
    if not page.pattern and not hints:
        return None
    used = (page.pattern,) if page.pattern else ()
    return LearningInsights(patterns_learned=len(hints), patterns_applied=len(used), skills_used=used)


def with_hints(page: Fetched, hints: Sequence[ApiPattern]) -> Fetched:
    """Add the APIs that were learned to those that the page itself showed, each once."""
    shown = {(api.method, api.endpoint) for api in page.apis}
    added = tuple(hint for hint in hints if (hint.method, hint.endpoint) not in shown)
    return structs.replace(page, apis=(*page.apis, *added)) if added else page
