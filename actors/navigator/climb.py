"""One browse on its way up the ladder: puts tiers to work until one gives the page."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar, assert_never

import anyio
from msgspec import structs

from actors.navigator import ladder, orders, sayings, trace
from actors.navigator.attempts import Absent, Accepted, Attempt, Failed, Outcome, Overtaken, Rejected, judged
from actors.navigator.budget import Budget, budget
from actors.navigator.experience import Early, Experience
from actors.navigator.joining import joined
from actors.navigator.ladder import Answer, Fail, Skip, Try, Wait
from bus import Publisher, Requester, TransportError
from bus.permissions import micro_name
from protocol import subjects
from protocol.faults import Code, FaultError
from protocol.lifecycle import WhyAbsent
from protocol.pages import Browsed, BrowsePage, Fetched, Verdict
from protocol.progress import Progress
from protocol.tiers import RenderTier

A = TypeVar("A")
R = TypeVar("R")

TELL_MS = 500
"""How long a browse that has ended may take to say so, in milliseconds."""


class BrowseBus(Requester, Publisher, Protocol):
    """What a browse needs of the bus."""


@dataclass
class Climb:
    """One browse; `grace_ms` is what an actor that is being restarted gets."""

    bus: BrowseBus
    asked: BrowsePage
    grace_ms: int
    experience: Experience
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    steps: int = 0
    started: float = field(default_factory=time.monotonic)

    async def run(self) -> Browsed:
        """Browse, and tell everybody how it ended."""
        answer: Fetched | None = None
        code: Code | None = Code.INTERNAL_ERROR
        try:
            answer = await self._climb()
            pages = await self._followed(answer)
            code = None
            return self._browsed(pages)
        except FaultError as error:
            code = error.fault.code
            raise
        except anyio.get_cancelled_exc_class():
            code = Code.INTERNAL_CANCELLED
            raise
        finally:
            self.experience.teach(self.asked.url, self.attempts)
            await self._tell(answer, code)

    async def _climb(self) -> Fetched:
        limits = self._begin(budget(self.asked.options))
        while True:
            step = ladder.next_step(limits, self.attempts, self._elapsed_ms())
            match step:
                case Try(tier=tier):
                    await self._try(limits, tier)
                case Wait(tier=tier):
                    self.attempts = [await self._attempt(tier, wait_ms=self.grace_ms)]
                case Skip(attempt=attempt):
                    self.attempts.append(attempt)
                case Answer(page=page):
                    return page
                case Fail(fault=fault, tier=tier):
                    raise FaultError(fault.at(url=self.asked.url, tier=tier, attempt=self._number(tier)))
                case _:
                    assert_never(step)

    def _begin(self, limits: Budget) -> Budget:
        """Begin where experience says."""
        start = self.experience.start(self.asked.url, limits.affordable)
        return replace(limits, start=start.tier, why=start.reason)

    async def _try(self, limits: Budget, tier: RenderTier) -> None:
        """Put a tier to work, and where it mostly fails the next one early."""
        self.attempts = [attempt for attempt in self.attempts if attempt.tier is not tier]
        early = self._early(limits, tier)
        if early is None:
            self.attempts.append(await self._attempt(tier))
        else:
            self.attempts += await self._race(limits, tier, early.tier, early.after_ms)

    def _early(self, limits: Budget, tier: RenderTier) -> Early | None:
        if limits.force_tier is not None:
            return None
        climbed = any(isinstance(attempt.outcome, Rejected) for attempt in self.attempts)
        return self.experience.hedge(self.asked.url, tier, limits.affordable, climbed=climbed)

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
            step = ladder.next_step(limits, [*self.attempts, *ended.values()], self._elapsed_ms())
            useless.set()
            if failed or len(ended) > 1 or step != Try(better):
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
            ended = {tier: Attempt(tier, Overtaken(), self._elapsed_ms() - before_ms), **ended}
        return [ended[each] for each in (tier, better) if each in ended]

    async def _attempt(self, tier: RenderTier, *, wait_ms: int = 0) -> Attempt:
        before_ms = self._elapsed_ms()
        await self._say(tier.spec.progress)
        outcome = await self._outcome(tier, wait_ms)
        return Attempt(tier, outcome, self._elapsed_ms() - before_ms)

    async def _outcome(self, tier: RenderTier, wait_ms: int) -> Outcome:
        left_ms = self._left_ms()
        call = subjects.FETCH.at(tier=tier.value)
        try:
            page = await self.bus.call(
                call, orders.fetch(self.asked), timeout_ms=left_ms, wait_ms=min(wait_ms, left_ms)
            )
        except FaultError as error:
            if error.fault.code is Code.INTERNAL_UNAVAILABLE:
                return Absent(waited=wait_ms > 0, why=await self._why_absent(tier))
            return Failed(error.fault)
        return judged(page, await self._verdict(page))

    async def _why_absent(self, tier: RenderTier) -> str:
        """Ask those replicas that run and cannot work; where there are none, nobody answers at once."""
        call = subjects.WHY_ABSENT.at(actor=micro_name(tier.actor))
        try:
            absence = await self.bus.call(call, WhyAbsent(), timeout_ms=self._left_ms())
        except FaultError:
            return ""
        return f"{absence.reason.removesuffix('.')}. {absence.cure}".strip()

    async def _verdict(self, page: Fetched) -> Verdict:
        """Ask the verifier; without it no page is an answer, in any tier."""
        try:
            return await self.bus.call(subjects.VERIFY_PAGE, orders.claim(self.asked, page), wait_ms=self.grace_ms)
        except FaultError as error:
            number = sum(attempt.tried for attempt in self.attempts) + 1
            raise FaultError(error.fault.at(url=self.asked.url, tier=page.tier, attempt=number)) from None

    def _number(self, tier: RenderTier | None) -> int | None:
        """Find the place of a tier among those that were tried, from 1."""
        tried = [attempt.tier for attempt in self.attempts if attempt.tried]
        return None if tier is None else tried.index(tier) + 1

    def _elapsed_ms(self) -> int:
        return round((time.monotonic() - self.started) * 1_000)

    def _left_ms(self) -> int:
        return max(self.asked.options.max_latency_ms - self._elapsed_ms(), 1)

    async def _followed(self, first: Fetched) -> list[Fetched]:
        """Get the pages that follow, where that is asked for, in the tier of the first and as far as the time goes."""
        pages, seen = [first], {self.asked.url, first.final_url}
        wanted = self.asked.options.max_pages if self.asked.options.follow_pagination else 1
        while len(pages) < wanted:
            url = pages[-1].document.content.parts.fields.next
            if url in seen or not orders.same_host(url, first.final_url) or self._left_ms() < first.tier.expected_ms:
                break
            seen.add(url)
            await self._say(sayings.further_page(len(pages) + 1, wanted))
            page = await self._next(url, first.tier)
            if page is None:
                break
            pages.append(page)
        return pages

    async def _next(self, url: str, tier: RenderTier) -> Fetched | None:
        """Get one more page, unless it fails or is none; what there is already is worth more than its error."""
        order, call = orders.fetch(self.asked, url), subjects.FETCH.at(tier=tier.value)
        try:
            page = await self.bus.call(call, order, timeout_ms=self._left_ms())
            verdict = await self.bus.call(subjects.VERIFY_PAGE, orders.claim(self.asked, page, url))
        except FaultError:
            return None
        return page if verdict.code is None else None

    def _browsed(self, pages: list[Fetched]) -> Browsed:
        page, duration_ms = joined(pages), self._elapsed_ms()
        accepted = isinstance(self.attempts[-1].outcome, Accepted)
        return Browsed(
            url=self.asked.url,
            page=page,
            confidence=trace.field_confidence(page, accepted=accepted),
            duration_ms=duration_ms,
            trace=trace.decision_trace(self.attempts, pages[0], duration_ms),
            pages=len(pages),
            tiers_tried=tuple(attempt.tier for attempt in self.attempts if attempt.tried),
        )

    async def _say(self, message: str) -> None:
        """Tell whoever watches what comes next; it is no more than advice, and may be lost."""
        watch, done = self.asked.watch, self.steps
        if watch is None:
            return
        self.steps += 1
        with suppress(FaultError, TransportError):
            progress = Progress(token=watch.token, done=done, message=message)
            await self.bus.tell(subjects.PROGRESS.at(replica=watch.replica), progress)

    async def _tell(self, answer: Fetched | None, code: Code | None) -> None:
        event = trace.page_browsed(self.asked.url, self.attempts, self._elapsed_ms(), answer=answer, code=code)
        if answer is None or not answer.from_cache:
            event = structs.replace(event, profile=self.asked.options.session_profile)
        # Shielded: a browse that was cut off has ended, too. Nobody waits for this event, so it may be lost.
        with anyio.move_on_after(TELL_MS / 1_000, shield=True), suppress(FaultError, TransportError):
            await self.bus.tell(subjects.PAGE_BROWSED, event)
