"""The actor that answers BROWSE."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar
from urllib.parse import unquote

import anyio
import structlog
from anyio.abc import TaskGroup
from msgspec import structs

from actors.actor import Actor, handles
from actors.navigator.beyond import HostEvidence, NoEvidence, SharedEvidence
from actors.navigator.browse_run import BrowseRun
from actors.navigator.by_pattern import KnownPatterns, NoPatterns, SharedPatterns
from actors.navigator.hosts import known_hosts, shipped_hosts
from actors.navigator.memory import Knowledge, NoKnowledge, TierMemory
from actors.navigator.observed import ObservedKnowledge, ObservedPatterns
from actors.navigator.preview import PreviewService
from actors.navigator.visits import NoVisits, PageVisits, VisitNotes
from actors.page_addresses import by_http, page_address
from actors.policy_file import shipped_policy, watched_policy
from actors.sites import site_of
from actors.toml_file import Watched
from actors.ungrouped import ungrouped
from protocol import subjects
from protocol.actions import OPERATOR, REPORT, Action, ranked
from protocol.domains import AskDomain, DomainKnowledge, Preview
from protocol.faults import Code, Fault, FaultError, fault
from protocol.pages import Browsed, BrowsePage
from protocol.policy_rules import GateRules
from protocol.subject_kinds import Bucket, Journal, Subject
from protocol.urls import host_of

log = structlog.stdlib.get_logger()

NOT_PUBLISHED = "outcome_not_published"

BROWSES_AT_ONCE = 512
"""Places of one navigator, which waits and does little: those of 16 fetchers. What is scarce are the places of the
tiers, which the keys share there; pages that wait here would leave fetchers without work.
"""

ANSWER_S = 0.02
"""What an answer gets to reach its client, before others hear of it and are at work on it."""

_WITHOUT_TLS = frozenset({Code.NETWORK_TLS_FAILED, Code.NETWORK_CONNECTION_FAILED})
"""How it ends where a server that speaks HTTP alone is asked by https."""


@dataclass
class Navigator(Actor):
    """Answers BROWSE: gets a page by the cheapest tier that can, within the client's budget."""

    name: ClassVar[str] = "navigator"
    publishes: ClassVar[tuple[Subject[Any], ...]] = (
        subjects.FETCH,
        subjects.VERIFY_PAGE,
        subjects.PAGE_BROWSED,
        subjects.PATTERN_USED,
        subjects.WHY_ABSENT,
        subjects.PROGRESS,
        subjects.FORESEE,
    )

    buckets: ClassVar[tuple[Bucket[Any], ...]] = (
        subjects.TIER_HISTORY,
        subjects.ABSENT_PAGES,
        subjects.HOST_TEXTS,
        subjects.PATTERNS,
    )

    journals: ClassVar[tuple[Journal[Any], ...]] = (subjects.PAGE_VISITS,)

    knowledge: Knowledge = field(default_factory=NoKnowledge)
    evidence: HostEvidence = field(default_factory=NoEvidence)
    visits: VisitNotes = field(default_factory=NoVisits)
    patterns: KnownPatterns = field(default_factory=NoPatterns)
    policy: Watched[GateRules] | None = None
    _after_answers: TaskGroup | None = field(default=None, init=False)
    """What is published once an answer is on its way: a client waits for none of it."""

    @classmethod
    def warm(cls) -> None:
        """Load the list of public suffixes, the shipped policy, and what is known of hosts before they were visited."""
        site_of("example.com")
        shipped_policy()
        shipped_hosts()

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Share what is learned of sites with the other navigators."""
        self.evidence = SharedEvidence(self.bus, self.settings.probe_absent_pages)
        async with AsyncExitStack() as stack:
            self.policy = await stack.enter_async_context(watched_policy(self.settings).open())
            if (
                (self.settings.keep_pages_days or self.settings.index_pages)
                and self.bus.seal is not None
                and self.bus.seal.holds(subjects.PAGE_VISITS.name)
            ):
                in_history = self.settings.keep_pages_days > 0
                visits = PageVisits(await self.bus.journal(subjects.PAGE_VISITS), in_history)
                self.visits = await stack.enter_async_context(visits.open())
            if self.settings.tier_learning:
                memory = TierMemory(self.bus, known_hosts(self.settings.hosts_file), self.settings.hedge_percent)
                self.knowledge = await stack.enter_async_context(memory.open())
            if (
                self.settings.pattern_learning
                and self.bus.seal is not None
                and self.bus.seal.holds(subjects.PATTERNS.name)
            ):
                self.patterns = await stack.enter_async_context(
                    SharedPatterns(self.bus, self.settings.pattern_verify_hours).open()
                )
            self.knowledge, self.patterns = ObservedKnowledge(self.knowledge), ObservedPatterns(self.patterns)
            stack.enter_context(ungrouped())
            self._after_answers = await stack.enter_async_context(anyio.create_task_group())
            yield

    @handles(subjects.BROWSE, at_once=BROWSES_AT_ONCE)
    async def browse(self, page: BrowsePage) -> Browsed:
        """Try one tier after another until a page is good enough or nothing is left to try.

        Raises:
            FaultError: the failure that says most about the page, VALIDATION_INVALID_REQUEST for what is no address,
                SECURITY_POLICY_DENIED where the operator wants nothing of the host to be read.
        """
        self._check_host(page_address(page.url))
        request, grace_ms = structs.replace(page, url=page_address(page.url)), self.settings.restart_grace_ms
        begun_s, kept = time.monotonic(), self.visits.for_history(request)
        run = BrowseRun(self.bus, request, grace_ms, self.knowledge, self.evidence, self.patterns, kept)
        outcome: Browsed | Fault | None = None
        try:
            outcome = browsed = await run.run()
        except FaultError as error:
            outcome = with_plain_http(error.fault, by_http(page.url))
            raise FaultError(outcome) from None
        finally:
            took_ms = round((time.monotonic() - begun_s) * 1_000)
            await self._after_answer(partial(self._publish, run, request, outcome, took_ms))
        self._check_host(browsed.page.final_url)
        return browsed

    @handles(subjects.PREVIEW, at_once=32)
    async def preview(self, page: BrowsePage) -> Preview:
        """Return what would be done for a page; nothing is fetched.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST.
        """
        page = structs.replace(page, url=page_address(page.url))
        return await PreviewService(self.bus, self.knowledge, self.patterns).preview(page)

    @handles(subjects.DOMAIN, at_once=32)
    async def domain(self, request: AskDomain) -> DomainKnowledge:
        """Return what is known of a domain; nothing is fetched.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST.
        """
        return await PreviewService(self.bus, self.knowledge).domain(request.domain, visits=request.visits)

    async def _after_answer(self, publish: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Have something published when the answer has gone; at once by a navigator that is not open."""

        async def later() -> None:
            await anyio.sleep(ANSWER_S)
            try:
                await publish()
            except Exception:  # the answer has gone, and others are at work
                log.exception(NOT_PUBLISHED)

        if self._after_answers is None:
            await publish()
        else:
            self._after_answers.start_soon(later)

    async def _publish(
        self, run: BrowseRun, request: BrowsePage, outcome: Browsed | Fault | None, took_ms: int
    ) -> None:
        """Publish how a browse ended, and have it noted; None: it was cut off."""
        await run.publish_outcome()
        if isinstance(outcome, Fault):
            self.visits.note(request, outcome, took_ms)
        elif outcome is not None and not self._why_unread(outcome.page.final_url):
            self.visits.note(request, outcome, outcome.duration_ms)

    def _check_host(self, url: str) -> None:
        """Hold every reading of pages to the operator's rules of hosts, for whatever it is done."""
        if why := self._why_unread(url):
            raise FaultError(fault(Code.SECURITY_POLICY_DENIED, why, field="url", actions=(OPERATOR, REPORT)))

    def _why_unread(self, url: str) -> str:
        host = unquote(host_of(url) or "").rstrip(".").lower()
        why = "" if self.policy is None else self.policy.value.unread(host)
        return f"Pages of {host} are not read: {why}" if why else ""


def with_plain_http(failure: Fault, plain: str) -> Fault:
    """Return the fault of a server that does not speak TLS, where its client may have meant the address `plain`."""
    if not plain or failure.code not in _WITHOUT_TLS:
        return failure
    message = f"{failure.message.removesuffix('.')}. Without a scheme https is meant: ask for {plain} if it is http."
    words = f"Ask for {plain}: an address without a scheme is asked by https."
    action = Action(action="use_http", description=words, tool_to_use="browse", parameters={"url": plain})
    return structs.replace(failure, message=message, actions=ranked((action, *failure.actions)), retryable=True)
