"""One browse: puts tiers to work, one after another, until one has the page."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol, assert_never
from urllib.parse import urlsplit

import anyio
from msgspec import Struct, structs

from actors.navigator import answer, escalation_policy
from actors.navigator.attempts import (
    REACTIONS,
    Absent,
    Accepted,
    Attempt,
    Failed,
    Outcome,
    Reaction,
    Rejected,
    Superseded,
    consistent,
    judged,
)
from actors.navigator.beyond import Beyond, HostEvidence, NoEvidence
from actors.navigator.by_pattern import (
    KnownPatterns,
    NoPatterns,
    insights,
    is_drift,
    may_use,
    pattern_used,
    with_hints,
)
from actors.navigator.choice import Early
from actors.navigator.escalation_policy import (
    Budget,
    FailBrowse,
    ReturnPage,
    SkipTier,
    TryTier,
    WaitForTier,
    budget,
)
from actors.navigator.memory import Experience
from actors.navigator.page_requests import fetch_request, verify_request
from actors.verdicts.certain import certain_verdict
from bus import Publisher, Requester, TransportError
from bus.clock import now_ms
from bus.permissions import micro_name
from bus.recording import form_of, observed
from protocol import subjects
from protocol.faults import Code, FaultError, fault
from protocol.pages import Browsed, BrowsePage, Fetched, FetchPage, PageBrowsed, PageClaim, Verdict
from protocol.replicas import Progress, WhyAbsent
from protocol.tiers import RenderTier

PUBLISH_MS = 500
"""How long a browse that has ended may take to say so, in milliseconds."""


PATTERN_SHARE = 3
"""A learned API gets a third of the time at most: what is left is for rendering the page in its place."""


class BrowseBus(Requester, Publisher, Protocol):
    """What a browse needs of the bus."""


class BrowseEnd(Struct, frozen=True):
    """How a browse ended: with a page, or with the code of what was wrong."""

    page: Fetched | None
    code: Code | None
    elapsed_ms: int


@dataclass
class BrowseRun:
    """One browse; `grace_ms` is what an actor that is being restarted gets, `for_history` whether it is kept."""

    bus: BrowseBus
    request: BrowsePage
    grace_ms: int
    experience: Experience
    evidence: HostEvidence = field(default_factory=NoEvidence)
    patterns: KnownPatterns = field(default_factory=NoPatterns)
    for_history: bool = False
    by_pattern: list[Attempt] = field(default_factory=list[Attempt], init=False)
    """The attempt at a learned API, which comes before the tiers; it teaches nothing of them."""

    attempts: list[Attempt] = field(default_factory=list[Attempt])
    steps: int = 0
    ended: BrowseEnd | None = None
    started: float = field(default_factory=time.monotonic)

    async def run(self) -> Browsed:
        """Browse; `publish_outcome` says how that ended."""
        page: Fetched | None = None
        code: Code | None = Code.INTERNAL_ERROR
        try:
            page = await self._browse()
            more = await self._next_pages(page)
            code = None
            return self._browsed(page, more)
        except FaultError as error:
            code = error.fault.code
            raise
        except anyio.get_cancelled_exc_class():
            code = Code.INTERNAL_CANCELLED
            raise
        finally:
            self.experience.record(self.request.url, self.attempts)
            self.ended = BrowseEnd(page, code, self._elapsed_ms())

    async def _browse(self) -> Fetched:
        limits = budget(self.request.options)
        if self.request.rendered or self._verifies_pattern(limits):
            limits = structs.replace(limits, scripted=True)
        elif (page := await self._by_pattern()) is not None:
            return page
        limits = self._begin(limits)
        while True:
            step = escalation_policy.next_step(limits, self.attempts, self._elapsed_ms())
            match step:
                case TryTier(tier=tier):
                    await self._try(limits, tier)
                case WaitForTier(tier=tier):
                    others = [attempt for attempt in self.attempts if not attempt.may_return]
                    self.attempts = [*others, await self._attempt(tier, wait_ms=self.grace_ms)]
                case SkipTier(attempt=attempt):
                    self.attempts.append(attempt)
                case ReturnPage(page=page):
                    return page
                case FailBrowse(fault=fault, tier=tier):
                    raise FaultError(fault.at(url=self.request.url, tier=tier, attempt=self._number(tier)))
                case _:
                    assert_never(step)

    def _verifies_pattern(self, limits: Budget) -> bool:
        """Return whether this visit is to show how a page is rendered whose API is known, within its own budget."""
        scripted = structs.replace(limits, scripted=True).tiers[:1] if limits.force_tier is None else ()
        affordable = any(tier.expected_ms <= limits.max_latency_ms for tier in scripted)
        return affordable and may_use(self.request) and self.patterns.wants_rendering(self.request)

    async def _by_pattern(self) -> Fetched | None:
        """Ask a learned API in the place of the page; None where none is known, or it is not what it was."""
        call = self.patterns.find(self.request) if may_use(self.request) else None
        if call is None:
            return None
        before_ms = self._elapsed_ms()
        await self._report(f"Asking the API behind the page ({call.trust} trust).")
        fetch = structs.replace(self._fetch_request(), by=call)
        outcome = await self._fetched(RenderTier.INTELLIGENCE, fetch, self._left_ms() // PATTERN_SHARE, 0)
        self.by_pattern = [Attempt(RenderTier.INTELLIGENCE, outcome, self._elapsed_ms() - before_ms, call)]
        if isinstance(outcome, Accepted):
            self.patterns.timed(call, self.by_pattern[0].duration_ms)
        elif is_drift(self.by_pattern[0]):
            self.patterns.suspend(call)
        return outcome.page if isinstance(outcome, Accepted) else None

    def _begin(self, limits: Budget) -> Budget:
        """Begin where experience says."""
        start = self.experience.start(self.request.url, limits.affordable)
        return structs.replace(limits, start=start.tier, why=start.reason)

    async def _try(self, limits: Budget, tier: RenderTier) -> None:
        """Put a tier to work, and where it mostly fails the next one early."""
        self.attempts = [attempt for attempt in self.attempts if attempt.tier is not tier]
        early = self._early(limits, tier)
        if early is None:
            attempts = [await self._attempt(tier)]
        else:
            attempts = await self._race(limits, tier, early.tier, early.after_ms)
        self.attempts = consistent([*self.attempts, *attempts])

    def _early(self, limits: Budget, tier: RenderTier) -> Early | None:
        if limits.force_tier is not None:
            return None
        escalated = any(isinstance(attempt.outcome, Rejected) for attempt in self.attempts)
        return self.experience.hedge(self.request.url, tier, limits.affordable, escalated=escalated)

    async def _race(self, limits: Budget, tier: RenderTier, better: RenderTier, after_ms: int) -> list[Attempt]:
        """Start `better` when `tier` takes too long or is of no use; whoever has the page first stops the other."""
        ended: dict[RenderTier, Attempt] = {}
        failed: list[FaultError] = []
        useless = anyio.Event()

        async def run(mine: RenderTier) -> None:
            try:
                ended[mine] = await self._attempt(mine)
            except FaultError as error:
                failed.append(error)
            attempts = consistent([*self.attempts, *ended.values()])
            step = escalation_policy.next_step(limits, attempts, self._elapsed_ms())
            useless.set()
            if failed or len(ended) > 1 or step != TryTier(better):
                race.cancel_scope.cancel()

        async def second() -> None:
            with anyio.move_on_after(after_ms / 1_000):
                await useless.wait()
            await run(better)

        before_ms = self._elapsed_ms()
        async with anyio.create_task_group() as race:
            race.start_soon(run, tier)
            race.start_soon(second)
        if failed:
            raise failed[0]
        if tier not in ended:
            ended = {tier: Attempt(tier, Superseded(), self._elapsed_ms() - before_ms), **ended}
        return [ended[each] for each in (tier, better) if each in ended]

    async def _attempt(self, tier: RenderTier, *, wait_ms: int = 0) -> Attempt:
        before_ms = self._elapsed_ms()
        await self._report(tier.spec.progress)
        outcome = await self._outcome(tier, wait_ms)
        return Attempt(tier, outcome, self._elapsed_ms() - before_ms)

    async def _outcome(self, tier: RenderTier, wait_ms: int) -> Outcome:
        return await self._fetched(tier, self._fetch_request(), self._left_ms(), wait_ms)

    async def _fetched(self, tier: RenderTier, fetch: FetchPage, left_ms: int, wait_ms: int) -> Outcome:
        """Put a tier to work for `left_ms`, and judge the page."""
        call = subjects.FETCH.at(tier=tier.value)
        try:
            page = await self.bus.call(call, fetch, timeout_ms=left_ms, wait_ms=min(wait_ms, left_ms))
        except FaultError as error:
            if error.fault.code is Code.INTERNAL_UNAVAILABLE:
                return Absent(waited=wait_ms > 0, why=await why_unavailable(self.bus, tier, self._left_ms()))
            if error.fault.code is Code.INTERNAL_DEADLINE:  # it had all the time that was left for this page
                return Failed(fault(Code.NETWORK_TIMEOUT, f"The tier {tier.value} had no page after {left_ms} ms"))
            return Failed(error.fault)
        verdict = await self._verdict(page)
        if verdict.doubtful and _decides(verdict, tier):
            beyond = await self.evidence.of(self.request, page, self._left_ms())
            verdict = await self._verdict(page, beyond) if beyond else verdict
        return judged(page, verdict)

    async def _verdict(self, page: Fetched, beyond: Beyond | None = None) -> Verdict:
        """Judge a page; without a verdict no page is an answer, in any tier."""
        claim = verify_request(self.request, page, beyond=beyond)
        try:
            return await _verdict_on(self.bus, claim, self.grace_ms)
        except FaultError as error:
            number = sum(attempt.tried for attempt in self.attempts) + 1
            raise FaultError(error.fault.at(url=self.request.url, tier=page.tier, attempt=number)) from None

    def _fetch_request(self, url: str | None = None) -> FetchPage:
        return fetch_request(self.request, url, for_history=self.for_history)

    def _number(self, tier: RenderTier | None) -> int | None:
        """Find the place of a tier among those that were tried, from 1."""
        tried = [attempt.tier for attempt in self.attempts if attempt.tried]
        return None if tier is None else tried.index(tier) + 1

    def _elapsed_ms(self) -> int:
        return observed("browse.elapsed", self.request.url, self._measured_ms, form_of(int))

    def _measured_ms(self) -> int:
        return round((time.monotonic() - self.started) * 1_000)

    def _left_ms(self) -> int:
        return max(self.request.options.max_latency_ms - self._elapsed_ms(), 1)

    async def _next_pages(self, first: Fetched) -> list[Accepted]:
        """Get the pages that follow, where that is asked for, in the tier of the first and as far as the time goes."""
        pages, visited = list[Accepted](), {self.request.url, first.final_url}
        wanted = self.request.options.max_pages if self.request.options.follow_pagination else 1
        last = first
        while len(pages) + 1 < wanted:
            url = last.document.content.parts.fields.next
            if url in visited or not same_host(url, first.final_url) or self._left_ms() < first.tier.expected_ms:
                break
            visited.add(url)
            await self._report(f"Reading page {len(pages) + 2} of at most {wanted}.")
            outcome = await self._next(url, first.tier)
            if outcome is None:
                break
            pages.append(outcome)
            last = outcome.page
        return pages

    async def _next(self, url: str, tier: RenderTier) -> Accepted | None:
        """Get one more page, unless it fails or is none; what there is already is worth more than its error."""
        fetch, call = self._fetch_request(url), subjects.FETCH.at(tier=tier.value)
        try:
            page = await self.bus.call(call, fetch, timeout_ms=self._left_ms())
            verdict = await _verdict_on(self.bus, verify_request(self.request, page, url))
        except FaultError:
            return None
        return Accepted(page, verdict) if verdict.code is None else None

    def _browsed(self, first: Fetched, more: list[Accepted]) -> Browsed:
        attempts = [*self.by_pattern, *self.attempts]
        outcomes = [*answer.outcomes_of(first, attempts), *more]
        page, duration_ms = answer.merged([outcome.page for outcome in outcomes]), self._elapsed_ms()
        hints, shown = self.patterns.hints(self.request), len(page.apis)
        page = with_hints(page, hints)
        return Browsed(
            url=self.request.url,
            page=page,
            confidence=answer.field_confidence(page, outcomes, len(page.apis) - shown),
            duration_ms=duration_ms,
            trace=answer.decision_trace(attempts, first, duration_ms),
            pages=len(outcomes),
            tiers_tried=tuple(dict.fromkeys(attempt.tier for attempt in attempts if attempt.tried)),
            walls=answer.blockers(outcomes),
            insights=insights(first, hints),
        )

    async def _report(self, message: str) -> None:
        """Report to whoever watches what comes next; it is no more than advice, and may be lost."""
        watch, steps = self.request.watch, self.steps
        if watch is None:
            return
        self.steps += 1
        with suppress(FaultError, TransportError):
            progress = Progress(token=watch.token, done=steps, message=message)
            await self.bus.tell(subjects.PROGRESS.at(replica=watch.replica), progress)

    def _event(self, ended: BrowseEnd) -> PageBrowsed:
        page, attempts = ended.page, [*self.by_pattern, *self.attempts]
        event = answer.page_browsed(self.request.url, attempts, ended.elapsed_ms, answer=page, code=ended.code)
        if page is None or not page.from_cache:
            event = structs.replace(event, profile=self.request.options.session_profile, caller=self.request.caller)
        return event

    async def publish_outcome(self) -> None:
        """Publish how the browse ended; nobody waits for that, so it may be lost."""
        # Shielded: a browse that was cut off has ended, too.
        with anyio.move_on_after(PUBLISH_MS / 1_000, shield=True), suppress(FaultError, TransportError):
            # How a pattern fared comes before the page that may replace it, lest what is new pay for what is gone.
            for attempt in self.by_pattern:
                used = pattern_used(self.request, attempt, self.attempts, now_ms())
                if used is not None:
                    await self.bus.tell(subjects.PATTERN_USED, used)
            if self.ended is not None:
                await self.bus.tell(subjects.PAGE_BROWSED, self._event(self.ended))


async def _verdict_on(bus: Requester, claim: PageClaim, wait_ms: int = 0) -> Verdict:
    """Return the verdict on a page: what is certain of it, else what the verifier says."""
    certain = certain_verdict(claim)
    return await bus.call(subjects.VERIFY_PAGE, claim, wait_ms=wait_ms) if certain is None else certain


async def why_unavailable(bus: Requester, tier: RenderTier, timeout_ms: int) -> str:
    """Ask replicas of a tier that run and cannot work for the reason; empty where there are none."""
    call = subjects.WHY_ABSENT.at(actor=micro_name(tier.actor))
    try:
        reply = await bus.call(call, WhyAbsent(), timeout_ms=timeout_ms)
    except FaultError:
        return ""
    return f"{reply.reason.removesuffix('.')}. {reply.cure}".strip()


def _decides(verdict: Verdict, tier: RenderTier) -> bool:
    """Whether a verdict is the last word on the page: no better tier is to be tried after it."""
    return verdict.code is None or REACTIONS[verdict.code] is not Reaction.ESCALATE or tier.spec.is_browser


def same_host(url: str, other: str) -> bool:
    """Return whether two addresses lie on one host; no address lies on none."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return False
    return host is not None and host == urlsplit(other).hostname
