"""The actor that answers what calls of models came to, and learns from them which model a tool needs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random, SystemRandom
from typing import Any, ClassVar

import anyio

from actors.actor import Actor, handles
from actors.learner.call_tables import CallQueries, CallTables
from actors.learner.learning import Learning
from actors.learner.overrides import LearnedOverrides
from actors.learner.turn import ReplicaTurn
from actors.projection.consumer import JournalConsumer, projected
from actors.projection.database import Database, locked_file
from actors.routing_file import WatchedRouting
from bus import Bus
from bus.clock import now_ms
from protocol import subjects
from protocol.models import CallLine, Provider, RouteDecision
from protocol.routes import AskMetrics, AskRoute, ListOptimizations, ListRoutes, Optimizations, RouteMetrics
from protocol.subject_kinds import Bucket, Journal, Subject

CLOSE_S = 2.0
"""What leaving the turn to another replica may take at the end."""


@dataclass
class Learner(Actor):
    """Answers the figures and the audit of calls, and sets the routes that follow from them (004)."""

    name: ClassVar[str] = "learner"
    publishes: ClassVar[tuple[Subject[Any], ...]] = (subjects.ROUTES, subjects.ROUTE)
    buckets: ClassVar[tuple[Bucket[Any], ...]] = (subjects.ROUTE_OVERRIDES, subjects.LEARNER_TURN)
    journals: ClassVar[tuple[Journal[Any], ...]] = (subjects.MODEL_CALLS,)

    clock: Callable[[], int] = now_ms
    """The time in ms since the epoch."""
    random: Random = field(default_factory=SystemRandom)

    _queries: CallQueries = field(init=False, repr=False)
    _calls: JournalConsumer[CallLine] = field(init=False, repr=False)

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


@dataclass(frozen=True)
class RouterOnBus:
    """The router as it is asked over the bus; see AskRouter."""

    bus: Bus

    async def available(self) -> Collection[Provider]:
        """Return the providers that have their credentials."""
        return (await self.bus.call(subjects.ROUTES, ListRoutes())).available

    async def decide(self, tool: str) -> RouteDecision:
        """Return who would be asked for a tool."""
        return (await self.bus.call(subjects.ROUTE, AskRoute(tool=tool))).decision
