"""Fetchers and a verifier that answer the navigator as told, and experience that says what it is told to say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

import anyio
import pytest

from actors.navigator import Navigator
from actors.navigator.attempts import Attempt
from actors.navigator.choice import Early
from actors.navigator.memory import NoKnowledge, StartAdvice
from actors.settings import Settings
from bus import Bus
from protocol.browse import BrowseOptions
from protocol.faults import Code, Fault, FaultContext, FaultError, fault
from protocol.pages import Browsed, BrowsePage, PageBrowsed
from protocol.replicas import Progress, Watch
from protocol.subject_kinds import Call, Event
from protocol.tiers import RenderTier
from tests.unit.actors.page_data import URL, verdict

A = TypeVar("A")
R = TypeVar("R")

CHEAP, MIDDLE, BROWSER = RenderTier.INTELLIGENCE, RenderTier.LIGHTWEIGHT, RenderTier.PLAYWRIGHT
GONE = fault(Code.INTERNAL_UNAVAILABLE, "No live actor answers")
NEEDS_JS = verdict(Code.CONTENT_REQUIRES_JS, reason="No text until the scripts run", length=0)

Reply = object | Callable[[], Awaitable[object]]


@dataclass
class FakeBus:
    """Answers each subject with its replies in turn, the last one for ever; nobody answers any other subject."""

    replies: dict[str, list[Reply]]
    told: list[PageBrowsed] = field(default_factory=list[PageBrowsed])
    progress: list[tuple[str, Progress]] = field(default_factory=list[tuple[str, Progress]])
    calls: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    limits: list[tuple[int | None, int]] = field(default_factory=list[tuple[int | None, int]])
    deaf: Exception | None = None

    async def call(self, call: Call[A, R], args: A, *, timeout_ms: int | None = None, wait_ms: int = 0) -> R:
        self.calls.append((call.pattern, args))
        self.limits.append((timeout_ms, wait_ms))
        queue = self.replies.get(call.pattern, [GONE])
        reply = queue.pop(0) if len(queue) > 1 else queue[0]
        if callable(reply):
            reply = await cast("Callable[[], Awaitable[object]]", reply)()
        if isinstance(reply, Fault):
            raise FaultError(reply)
        return cast("R", reply)

    async def tell(self, event: Event[A], args: A) -> None:
        if self.deaf is not None:
            raise self.deaf
        if isinstance(args, Progress):
            self.progress.append((event.pattern, args))
            return
        self.told.append(cast("PageBrowsed", args))

    @property
    def asked(self) -> list[str]:
        return [subject for subject, _ in self.calls]


def bus(verdicts: list[Reply] | None = None, **tiers: Reply | list[Reply]) -> FakeBus:
    """Make a bus whose tiers and verifier answer; a tier that is not named is absent."""
    listed = {f"web.fetch.{tier}": _listed(reply) for tier, reply in tiers.items()}
    return FakeBus({**listed, "verify.page": [verdict()] if verdicts is None else verdicts})


def _listed(reply: Reply | list[Reply]) -> list[Reply]:
    return cast("list[Reply]", reply) if isinstance(reply, list) else [reply]


@dataclass
class Known(NoKnowledge):
    """Experience that says what it is told to say."""

    begin: StartAdvice = field(default_factory=StartAdvice)
    early: Early | None = None
    taught: list[Attempt] = field(default_factory=list[Attempt])

    def start(self, url: str, allowed: Sequence[RenderTier]) -> StartAdvice:
        return self.begin

    def hedge(
        self, url: str, tier: RenderTier, allowed: Sequence[RenderTier], *, escalated: bool = False
    ) -> Early | None:
        return self.early if tier is CHEAP else None

    def record(self, url: str, attempts: Sequence[Attempt]) -> None:
        self.taught += attempts


async def browse(
    fake: FakeBus,
    options: BrowseOptions = BrowseOptions(),  # noqa: B008 - frozen
    url: str = URL,
    known: Known | None = None,
    watch: Watch | None = None,
) -> Browsed:
    navigator = Navigator(cast("Bus", fake), Settings(data_dir=Path("unused"), restart_grace_ms=2_000))
    if known is not None:
        navigator.knowledge = known
    with anyio.fail_after(90):
        return await navigator.browse(BrowsePage(url=url, options=options, watch=watch))


async def fault_of(fake: FakeBus, options: BrowseOptions = BrowseOptions()) -> Fault:  # noqa: B008 - frozen
    with pytest.raises(FaultError) as caught:
        await browse(fake, options)
    return caught.value.fault


def context(tier: RenderTier | None = None, attempt: int | None = None) -> FaultContext:
    return FaultContext(url=URL, domain="example.com", tier=tier, attempt_number=attempt)
