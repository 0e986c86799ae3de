"""The actor that learns: from calls of models which model a tool needs, and from pages what their APIs answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random, SystemRandom
from typing import Any, ClassVar

import anyio
from msgspec import Struct

from actors.actor import Actor, handles, subscribes
from actors.learner.call_tables import CallQueries, CallTables
from actors.learner.learning import Learning
from actors.learner.overrides import LearnedOverrides
from actors.learner.patterns.calls import PatternCalls
from actors.learner.patterns.discovery import HintFinder, SiteAsks
from actors.learner.patterns.learning import LEASE_MS, PatternLearning
from actors.learner.patterns.sources.known import own_apis, read_apis
from actors.learner.patterns.sources.table import all_sources
from actors.learner.patterns.sources.user_feedback import UserFeedback
from actors.learner.patterns.store import PatternStore
from actors.learner.turn import PATTERNS_TURN, ReplicaTurn
from actors.projection.consumer import JournalConsumer, projected
from actors.projection.database import Database, locked_file
from actors.routing_file import WatchedRouting, read_routing
from actors.settings import Settings
from actors.toml_file import Watched
from bus import Bus
from bus.clock import now_ms
from protocol import subjects
from protocol.faults import Code, FaultError, fault
from protocol.models import CallLine, Provider, RouteDecision
from protocol.pages import PageBrowsed
from protocol.patterns.listing import (
    ApiCalled,
    AskPattern,
    CallApi,
    ExportPatterns,
    ForgottenPattern,
    ImportedPatterns,
    ImportPatterns,
    JudgePattern,
    ListPatterns,
    PatternFile,
    PatternJudged,
    PatternList,
    PatternVerdict,
    PatternView,
    VerifyPattern,
)
from protocol.patterns.sample import SAMPLES, SealedSample
from protocol.patterns.use import PatternUsed
from protocol.routes import AskMetrics, AskRoute, ListOptimizations, ListRoutes, Optimizations, RouteMetrics
from protocol.subject_kinds import Bucket, Journal, Subject

CLOSE_S = 2.0
"""What leaving the turn to another replica may take at the end."""


@dataclass
class Learner(Actor):
    """Answers the figures and the audit of calls, and sets the routes and patterns that are learned (004, 000 §4)."""

    name: ClassVar[str] = "learner"
    publishes: ClassVar[tuple[Subject[Any], ...]] = (
        subjects.ROUTES,
        subjects.ROUTE,
        subjects.BROWSE,
        subjects.API_ASK,
    )
    buckets: ClassVar[tuple[Bucket[Any], ...]] = (subjects.ROUTE_OVERRIDES, subjects.LEARNER_TURN, subjects.PATTERNS)
    purposes: ClassVar[tuple[str, ...]] = (SAMPLES,)
    journals: ClassVar[tuple[Journal[Any], ...]] = (subjects.MODEL_CALLS,)

    clock: Callable[[], int] = now_ms
    """The time in ms since the epoch."""
    random: Random = field(default_factory=SystemRandom)

    _queries: CallQueries = field(init=False, repr=False)
    _calls: JournalConsumer[CallLine] = field(init=False, repr=False)
    _patterns: PatternLearning | None = field(default=None, init=False, repr=False)
    _pattern_calls: PatternCalls | None = field(default=None, init=False, repr=False)

    @classmethod
    def warm(cls) -> None:
        """Read the shipped routes."""
        read_routing()

    @classmethod
    def check(cls, settings: Settings) -> None:
        """Read the operator's file of APIs."""
        read_apis(own_apis(settings), needed=bool(settings.patterns_file))

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Open a database of its own, keep it at the end of the journal, and look at it again and again."""
        journal = await self.bus.journal(subjects.MODEL_CALLS)
        overrides = LearnedOverrides(self.bus, await self.bus.table(subjects.ROUTE_OVERRIDES))
        lease_ms = 2 * self.settings.learning_interval_ms
        turn = ReplicaTurn(await self.bus.table(subjects.LEARNER_TURN), self.bus.replica, lease_ms, self.clock)
        async with locked_file(self.settings.data_dir / "learner") as path:
            database = Database(path, "actors.learner")
            tables, self._queries = CallTables(database), CallQueries(database)
            async with (
                database.open(),
                projected(journal, database, tables) as self._calls,
                WatchedRouting(self.settings).open() as routing,
                overrides.open(),
                self._pattern_learning(),
                anyio.create_task_group() as tasks,
            ):
                learning = Learning(
                    settings=self.settings,
                    consumer=self._calls,
                    tables=tables,
                    queries=self._queries,
                    overrides=overrides,
                    turn=turn,
                    routing=lambda: routing.routing,
                    router=RouterOnBus(self.bus),
                    clock=self.clock,
                    random=self.random,
                )
                tasks.start_soon(learning.run)
                try:
                    yield
                finally:
                    tasks.cancel_scope.cancel()
                    with anyio.move_on_after(CLOSE_S, shield=True):
                        await turn.leave()

    @asynccontextmanager
    async def _pattern_learning(self) -> AsyncGenerator[None]:
        """Learn from pages while the block lasts, where that is wanted."""
        if not self.settings.pattern_learning:
            yield
            return
        store = PatternStore(self.bus, await self.bus.table(subjects.PATTERNS))
        table = await self.bus.table(subjects.LEARNER_TURN)
        turn = ReplicaTurn(table, self.bus.replica, LEASE_MS, self.clock, PATTERNS_TURN)
        own, corrections = Watched(own_apis(self.settings), read_apis), UserFeedback()
        sources = all_sources(corrections, lambda: own.value, store.all)
        learning = PatternLearning(
            store=store,
            bus=self.bus,
            seal=self.bus.seal,
            turn=turn,
            clock=self.clock,
            verify_hours=self.settings.pattern_verify_hours,
            hints=HintFinder(sources, SiteAsks(self.bus, self.clock, self.settings.pattern_probes)),
        )
        self._pattern_calls = PatternCalls(store, self.bus, self.clock, corrections)
        async with own.open(), store.open(), learning.open() as self._patterns:
            try:
                yield
            finally:
                with anyio.move_on_after(CLOSE_S, shield=True):
                    await turn.leave()

    @subscribes(subjects.PAGE_SAMPLED, at_once=8)
    async def sampled(self, sealed: SealedSample) -> None:
        """Take what a page was made from; it is learned from once the page is accepted."""
        if self._patterns is not None:
            await self._patterns.sampled(sealed)

    @subscribes(subjects.PAGE_BROWSED, at_once=8)
    async def browsed(self, event: PageBrowsed) -> None:
        """Learn from the sample of a page that was accepted."""
        if self._patterns is not None and event.sample:
            self._patterns.accepted(event.sample, event.url)

    @subscribes(subjects.PATTERN_USED, at_once=8)
    async def pattern_used(self, used: PatternUsed) -> None:
        """Learn how a pattern fared."""
        if self._patterns is not None:
            self._patterns.used(used)

    @handles(subjects.PATTERN_LIST, at_once=16)
    async def list_patterns(self, request: ListPatterns) -> PatternList:
        """List patterns that the caller may know of."""
        return PatternList(patterns=()) if self._pattern_calls is None else self._pattern_calls.list(request)

    @handles(subjects.PATTERN_SHOW, at_once=16)
    async def show_pattern(self, request: AskPattern) -> PatternView:
        """Return one pattern."""
        return self._of_patterns().show(request)

    @handles(subjects.PATTERN_VERIFY, at_once=4)
    async def verify_pattern(self, request: VerifyPattern) -> PatternVerdict:
        """Compare a page with how its pattern makes it."""
        return await self._of_patterns().verify(request)

    @handles(subjects.PATTERN_FORGET, at_once=4)
    async def forget_pattern(self, request: AskPattern) -> ForgottenPattern:
        """Forget one pattern."""
        return await self._of_patterns().forget(request)

    @handles(subjects.PATTERN_EXPORT, at_once=4)
    async def export_patterns(self, request: ExportPatterns) -> PatternFile:
        """Return what others may have of patterns."""
        return self._of_patterns().export(request)

    @handles(subjects.PATTERN_IMPORT, at_once=1)
    async def import_patterns(self, request: ImportPatterns) -> ImportedPatterns:
        """Keep the patterns of a file as hints."""
        return await self._of_patterns().import_file(request)

    @handles(subjects.PATTERN_FEEDBACK, at_once=4)
    async def judge_pattern(self, request: JudgePattern) -> PatternJudged:
        """Take in what a caller says of a pattern."""
        return await self._of_patterns().feedback(request)

    @handles(subjects.API_CALL, at_once=16)
    async def call_api(self, request: CallApi) -> ApiCalled:
        """Ask the API of a pattern."""
        return await self._of_patterns().call(request)

    def _of_patterns(self) -> PatternCalls:
        """Return what answers about patterns.

        Raises:
            FaultError: VALIDATION_UNKNOWN_PATTERN: where nothing is learned, there is none.
        """
        if self._pattern_calls is None:
            raise FaultError(fault(Code.VALIDATION_UNKNOWN_PATTERN, "No patterns are learned here (pattern_learning)."))
        return self._pattern_calls

    @handles(subjects.ROUTE_METRICS, at_once=16)
    async def metrics(self, request: AskMetrics) -> RouteMetrics:
        """Return the figures of calls (004 "Aggregation").

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, when the journal cannot be read.
        """
        await self._calls.wait_current(subjects.ROUTE_METRICS.timeout_ms)
        return RouteMetrics(metrics=await self._queries.metrics(request, self.clock()))

    @handles(subjects.ROUTE_AUDIT, at_once=16)
    async def audit(self, request: ListOptimizations) -> Optimizations:
        """Return what was learned (004 "Audit Trail").

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, when the journal cannot be read.
        """
        await self._calls.wait_current(subjects.ROUTE_AUDIT.timeout_ms)
        return Optimizations(optimizations=await self._queries.optimizations(request.limit))


class RouterOnBus(Struct, frozen=True):
    """The router as it is asked over the bus; see AskRouter."""

    bus: Bus

    async def available(self) -> Collection[Provider]:
        """Return the providers that have their credentials."""
        return (await self.bus.call(subjects.ROUTES, ListRoutes())).available

    async def decide(self, tool: str) -> RouteDecision:
        """Return who would be asked for a tool."""
        return (await self.bus.call(subjects.ROUTE, AskRoute(tool=tool))).decision
