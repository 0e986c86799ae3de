"""The actor that answers BROWSE."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeVar, assert_never

import anyio

from actors.actor import Actor, handles
from actors.navigator import ladder, trace
from actors.navigator.ladder import Absent, Accepted, Answer, Attempt, Fail, Failed, Outcome, Skip, Try, Wait
from bus import TransportError
from protocol import subjects
from protocol.browse import RenderTier
from protocol.documents import Document, WebObservationSummary, untrusted
from protocol.faults import Code, FaultError
from protocol.pages import Browsed, BrowsePage, Fetched, FetchPage, PageClaim, Verdict
from protocol.subjects import Call, Event, Subject

A = TypeVar("A")
R = TypeVar("R")

OPENING_CHARS = 4_000
"""What the verifier gets to read of a page: the title and the first words."""

TITLE_CHARS = 500

TELL_MS = 500
"""How long a browse that has ended may take to say so, in milliseconds."""


class Asking(Protocol):
    """What a browse needs of the bus."""

    async def call(self, call: Call[A, R], args: A, *, timeout_ms: int | None = None, wait_ms: int = 0) -> R:
        """Ask, and return the answer; raises FaultError."""
        ...

    async def tell(self, event: Event[A], args: A) -> None:
        """Tell whoever listens."""
        ...


@dataclass
class Navigator(Actor):
    """Answers BROWSE: gets a page by the cheapest tier that can, within the client's budget."""

    name: ClassVar[str] = "navigator"
    makes: ClassVar[tuple[Subject[Any], ...]] = (subjects.FETCH, subjects.VERIFY_PAGE, subjects.PAGE_BROWSED)

    @handles(subjects.BROWSE, at_once=64)
    async def browse(self, page: BrowsePage) -> Browsed:
        """Climb the ladder of tiers until a page is good enough or nothing is left to try.

        Raises:
            FaultError: the failure that says most about the page.
        """
        return await Climb(self.bus, page, self.settings.restart_grace_ms).run()


@dataclass
class Climb:
    """One browse on its way up the ladder; `grace_ms` is what an actor that is being restarted gets."""

    bus: Asking
    asked: BrowsePage
    grace_ms: int
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    started: float = field(default_factory=time.monotonic)

    async def run(self) -> Browsed:
        """Browse, and tell everybody how it ended."""
        answer: Fetched | None = None
        code: Code | None = Code.INTERNAL_ERROR
        try:
            answer = await self._climb()
            code = None
            return self._browsed(answer)
        except FaultError as error:
            code = error.fault.code
            raise
        except anyio.get_cancelled_exc_class():
            code = Code.INTERNAL_CANCELLED
            raise
        finally:
            await self._tell(answer, code)

    async def _climb(self) -> Fetched:
        budget = ladder.budget(self.asked.options)
        while True:
            step = ladder.next_step(budget, self.attempts, self._elapsed_ms())
            match step:
                case Try(tier=tier):
                    self.attempts.append(await self._attempt(tier, Absent()))
                case Wait(tier=tier):
                    self.attempts = [await self._attempt(tier, Absent(waited=True), wait_ms=self.grace_ms)]
                case Skip(attempt=attempt):
                    self.attempts.append(attempt)
                case Answer(page=page):
                    return page
                case Fail(fault=fault, tier=tier):
                    raise FaultError(fault.at(url=self.asked.url, tier=tier, attempt=self._number(tier)))
                case _:
                    assert_never(step)

    async def _attempt(self, tier: RenderTier, absent: Absent, *, wait_ms: int = 0) -> Attempt:
        before_ms = self._elapsed_ms()
        outcome = await self._outcome(tier, absent, wait_ms)
        return Attempt(tier, outcome, self._elapsed_ms() - before_ms)

    async def _outcome(self, tier: RenderTier, absent: Absent, wait_ms: int) -> Outcome:
        left_ms = max(self.asked.options.max_latency_ms - self._elapsed_ms(), 1)
        call = subjects.FETCH.at(tier=tier.value)
        try:
            page = await self.bus.call(call, _order(self.asked), timeout_ms=left_ms, wait_ms=min(wait_ms, left_ms))
        except FaultError as error:
            return absent if error.fault.code is Code.INTERNAL_UNAVAILABLE else Failed(error.fault)
        return ladder.judged(page, await self._verdict(tier, page))

    async def _verdict(self, tier: RenderTier, page: Fetched) -> Verdict:
        """Ask the verifier; without it no page is an answer, in any tier."""
        try:
            return await self.bus.call(subjects.VERIFY_PAGE, _claim(self.asked, page), wait_ms=self.grace_ms)
        except FaultError as error:
            number = sum(attempt.tried for attempt in self.attempts) + 1
            raise FaultError(error.fault.at(url=self.asked.url, tier=tier, attempt=number)) from None

    def _number(self, tier: RenderTier | None) -> int | None:
        """Find the place of a tier among those that were tried, from 1."""
        tried = [attempt.tier for attempt in self.attempts if attempt.tried]
        return None if tier is None else tried.index(tier) + 1

    def _elapsed_ms(self) -> int:
        return round((time.monotonic() - self.started) * 1_000)

    def _browsed(self, page: Fetched) -> Browsed:
        duration_ms = self._elapsed_ms()
        accepted = isinstance(self.attempts[-1].outcome, Accepted)
        return Browsed(
            url=self.asked.url,
            page=page,
            confidence=trace.field_confidence(page, accepted=accepted),
            duration_ms=duration_ms,
            trace=trace.decision_trace(self.attempts, page, duration_ms),
        )

    async def _tell(self, answer: Fetched | None, code: Code | None) -> None:
        event = trace.page_browsed(self.asked.url, self.attempts, self._elapsed_ms(), answer=answer, code=code)
        # Shielded: a browse that was cut off has ended, too. Nobody waits for this event, so it may be lost.
        with anyio.move_on_after(TELL_MS / 1_000, shield=True), suppress(FaultError, TransportError):
            await self.bus.tell(subjects.PAGE_BROWSED, event)


def _order(asked: BrowsePage) -> FetchPage:
    options = asked.options
    return FetchPage(
        url=asked.url,
        freshness=options.freshness_requirement,
        session=options.session_profile,
        include_html=options.include_html,
        include_network=options.include_network,
        include_console=options.include_console,
    )


def _claim(asked: BrowsePage, page: Fetched) -> PageClaim:
    return PageClaim(
        url=asked.url,
        final_url=page.final_url,
        status=page.status,
        tier=page.tier,
        evidence=page.evidence,
        opening=_opening(page.document),
        session=asked.options.session_profile is not None,
        retry_after_ms=page.retry_after_ms,
    )


def _opening(document: Document[WebObservationSummary]) -> Document[WebObservationSummary]:
    """Take the title and the first words of a page, as untrusted as the whole."""
    content = document.content
    title = content.title[:TITLE_CHARS]
    markdown = content.markdown[: OPENING_CHARS - len(title)]
    return untrusted(document.doc_id, WebObservationSummary(url=content.url, title=title, markdown=markdown))
