"""The actor that answers BROWSE."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

from actors.actor import Actor, handles
from actors.navigator.browse_run import BrowseRun
from actors.navigator.hosts import known_hosts
from actors.navigator.memory import Knowledge, NoKnowledge, TierMemory
from actors.navigator.preview import PreviewService
from actors.sites import site_of
from protocol import subjects
from protocol.domains import AskDomain, DomainKnowledge, Preview
from protocol.pages import Browsed, BrowsePage
from protocol.subjects import Bucket, Subject


@dataclass
class Navigator(Actor):
    """Answers BROWSE: gets a page by the cheapest tier that can, within the client's budget."""

    name: ClassVar[str] = "navigator"
    publishes: ClassVar[tuple[Subject[Any], ...]] = (
        subjects.FETCH,
        subjects.VERIFY_PAGE,
        subjects.PAGE_BROWSED,
        subjects.WHY_ABSENT,
        subjects.PROGRESS,
        subjects.FORESEE,
    )

    buckets: ClassVar[tuple[Bucket[Any], ...]] = (subjects.TIER_HISTORY,)

    knowledge: Knowledge = field(default_factory=NoKnowledge)

    @classmethod
    def warm(cls) -> None:
        """Load the list of public suffixes."""
        site_of("example.com")

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Share what is learned of sites with the other navigators."""
        if not self.settings.tier_learning:
            yield
            return
        memory = TierMemory(self.bus, known_hosts(self.settings.hosts_file), self.settings.hedge_percent)
        async with memory.open() as self.knowledge:
            yield

    @handles(subjects.BROWSE, at_once=64)
    async def browse(self, page: BrowsePage) -> Browsed:
        """Try one tier after another until a page is good enough or nothing is left to try.

        Raises:
            FaultError: the failure that says most about the page.
        """
        return await BrowseRun(self.bus, page, self.settings.restart_grace_ms, self.knowledge).run()

    @handles(subjects.PREVIEW, at_once=32)
    async def preview(self, page: BrowsePage) -> Preview:
        """Return what would be done for a page; nothing is fetched.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST.
        """
        return await PreviewService(self.bus, self.knowledge).preview(page)

    @handles(subjects.DOMAIN, at_once=32)
    async def domain(self, request: AskDomain) -> DomainKnowledge:
        """Return what is known of a domain; nothing is fetched.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST.
        """
        return await PreviewService(self.bus, self.knowledge).domain(request.domain)
