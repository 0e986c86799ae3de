"""Answers what a page would take, and what is known of a domain: asks who knows, and fetches nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import anyio
from msgspec import UNSET

from actors.navigator import choice, outlook
from actors.navigator.budget import budget
from actors.navigator.choice import Outlook
from actors.navigator.history import chance
from actors.navigator.outlook import Facts
from actors.sites import site_of
from bus import Directory, Requester, TransportError
from bus.permissions import micro_name
from bus.stats import Replica
from protocol import subjects
from protocol.domains import DomainKnowledge, Foreseen, ForeseePage, Preview, TierKnowledge
from protocol.faults import FaultError
from protocol.lifecycle import WhyAbsent
from protocol.pages import BrowsePage
from protocol.tiers import TIERS, RenderTier

A = TypeVar("A")
R = TypeVar("R")

LOOK_MS = 200
"""How long tiers get to tell that they live."""

ASK_MS = 1_000
"""How long whoever can foresee something, or says why it cannot work, may take."""

NOT_RUNNING = "No live replica of this tier."


class Neighbours(Requester, Directory, Protocol):
    """What is needed of the bus."""


class Knowing(Protocol):
    """What is needed of the memory of tiers."""

    def outlook(self, url: str, allowed: Sequence[RenderTier]) -> Outlook:
        """Return how a visit would go, without being one."""
        ...


class KnowsNothing:
    """The memory of a navigator that learns nothing."""

    def outlook(self, url: str, allowed: Sequence[RenderTier]) -> Outlook:
        """Begin with the cheapest."""
        del url
        return choice.outlook(None, None, allowed, 0, percent=0)


@dataclass(frozen=True)
class Foresight:
    """Looks ahead for one navigator."""

    bus: Neighbours
    memory: Knowing

    async def preview(self, asked: BrowsePage) -> Preview:
        """Return what would be done for a page, and what it would cost.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, for options that contradict each other.
        """
        limits = budget(asked.options)
        look = self.memory.outlook(asked.url, limits.affordable)
        page = ForeseePage(
            url=asked.url,
            freshness=asked.options.freshness_requirement,
            session=asked.options.session_profile,
            obey_robots=asked.obey_robots,
        )
        absences, foreseen = await self._looked(page)
        return outlook.preview(Facts(asked, look, absences, foreseen))

    async def domain(self, host: str) -> DomainKnowledge:
        """Return what is known of a host, or of its domain where nobody has visited the host itself.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, when it is no host.
        """
        site_of(host)
        url = f"https://{host}/"
        look = self.memory.outlook(url, TIERS)
        foreseen = await self._foreseen(ForeseePage(url=url)) or Foreseen()
        history = look.history
        return DomainKnowledge(
            domain=host.lower().rstrip("."),
            known=history is not None,
            start_tier=look.start.tier,
            start_reason=look.why,
            tiers=_tiers(look),
            updated_at=UNSET if history is None else look.learned_ms,
            kind=UNSET if look.kind is None else look.kind,
            robots=foreseen.robots or UNSET,
            pace=foreseen.pace or UNSET,
        )

    async def _looked(self, page: ForeseePage) -> tuple[dict[RenderTier, str], Foreseen | None]:
        """Ask at once who is there, and what a fetcher foresees."""
        found: list[Foreseen | None] = []
        absences: dict[RenderTier, str] = {}

        async def foresee() -> None:
            found.append(await self._foreseen(page))

        async def look() -> None:
            absences.update(await self._absences())

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(foresee)
            tasks.start_soon(look)
        return absences, found[0]

    async def _foreseen(self, page: ForeseePage) -> Foreseen | None:
        try:
            return await self.bus.call(subjects.FORESEE, page, timeout_ms=ASK_MS)
        except FaultError:
            return None

    async def _absences(self) -> dict[RenderTier, str]:
        """Tell of each tier that nobody answers for why that is."""
        try:
            replicas = await self.bus.replicas(LOOK_MS, enough=lambda found: len(_deployed(found)) == len(TIERS))
        except (FaultError, TransportError):
            return {}
        deployed = _deployed(replicas)
        return {tier: await self._why_absent(tier) for tier in TIERS if tier not in deployed}

    async def _why_absent(self, tier: RenderTier) -> str:
        call = subjects.WHY_ABSENT.at(actor=micro_name(tier.actor))
        try:
            absence = await self.bus.call(call, WhyAbsent(), timeout_ms=ASK_MS)
        except FaultError:
            return NOT_RUNNING
        return f"{absence.reason.removesuffix('.')}. {absence.cure}".strip()


def _deployed(replicas: Sequence[Replica]) -> set[RenderTier]:
    answered = {endpoint.subject for replica in replicas for endpoint in replica.endpoints}
    return {tier for tier in TIERS if subjects.FETCH.at(tier=tier.value).pattern in answered}


def _tiers(look: Outlook) -> tuple[TierKnowledge, ...]:
    records = look.history.tiers if look.history else {}
    return tuple(
        TierKnowledge(
            tier=tier,
            enough=round(record.enough, 2),
            refused=round(record.refused, 2),
            chance=round(chance(record, tier.spec.prior), 2),
            last_worked_at=record.worked_ms or UNSET,
            typical_ms=record.took_ms or UNSET,
        )
        for tier in TIERS
        if (record := records.get(tier)) is not None and record.enough + record.refused > 0
    )
