"""Looks at the calls again and again, writes down what follows from them, and has the routes be so."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final, Protocol

import anyio
import structlog

from actors.learner.beliefs import Beliefs
from actors.learner.call_evidence import CallEvidence, ToolEvidence
from actors.learner.call_tables import CallQueries, CallTables
from actors.learner.economic import EconomicPlan, Economy, ModelChoice
from actors.learner.overrides import LearnedOverrides
from actors.learner.rules import CurrentRoute, Look, decide, helpless, stop_tests
from actors.learner.turn import ReplicaTurn
from actors.projection.consumer import JournalConsumer
from actors.settings import Settings
from bus.errors import TransportError
from protocol.faults import FaultError
from protocol.models import LEARNED_TOPIC, CallLine, ModelName, Provider, RouteDecision, RouteReason
from protocol.routes import Override
from protocol.routing import FALLBACK, Routing

log = structlog.stdlib.get_logger()

ROUTE_LEARNED: Final = "route_learned"
NOT_LOOKED: Final = "calls_of_models_not_looked_at"
DECIDED_ELSEWHERE: Final = "another_replica_has_decided"
NO_STRONGER: Final = "no_stronger_model"

READ_MS: Final = 10_000
"""How long a look waits until the tables are at the end of the journal."""


class AskRouter(Protocol):
    """Asks the router; FaultError where it does not answer."""

    async def available(self) -> Collection[Provider]:
        """Return the providers that have their credentials."""
        ...

    async def decide(self, tool: str) -> RouteDecision:
        """Return who would be asked for a tool."""
        ...


BY_HAND: Final = "A person has set this route."
WITHDRAWN: Final = "A person has taken the learned route back."
ELSEWHERE: Final = "The table sends it to another model now."


@dataclass
class Learning:
    """The looks of a replica; it looks only while it is its turn."""

    settings: Settings
    consumer: JournalConsumer[CallLine]
    tables: CallTables
    queries: CallQueries
    overrides: LearnedOverrides
    turn: ReplicaTurn
    routing: Callable[[], Routing]
    router: AskRouter
    clock: Callable[[], int]
    random: Random
    _helpless: set[str] = field(default_factory=set[str], init=False)

    async def run(self) -> None:
        """Look every `learning_interval_ms`."""
        while True:
            await anyio.sleep(self.settings.learning_interval_ms / 1000)
            try:
                if await self.turn.take():
                    await self.look()
            except (FaultError, TransportError, sqlite3.Error) as error:
                log.warning(NOT_LOOKED, reason=str(error))

    async def look(self) -> None:
        """Decide once, write that down, and have the overrides be as what was learned says.

        Raises:
            FaultError, TransportError: the journal, the tables or the router cannot be read; nothing was decided.
        """
        last = await self.consumer.journal.records.last(LEARNED_TOPIC)
        await self.consumer.wait_current(READ_MS)
        evidence, beliefs = await self.tables.known()
        look = await self._look_at(evidence)
        plan = self._plan(evidence, beliefs, look)
        if plan.learned is not None:
            try:
                await self.consumer.journal.append(
                    LEARNED_TOPIC, plan.learned, last=0 if last is None else last.sequence
                )
            except ValueError:
                log.info(DECIDED_ELSEWHERE)
                return
            for step in plan.learned.steps:
                log.info(ROUTE_LEARNED, tool=step.tool, step=step.step.value, old=step.old.model, new=step.new.model)
            await self.consumer.wait_current(READ_MS)
            evidence, _ = await self.tables.known()
        await self._apply(evidence, plan.choices, look)

    def _plan(self, evidence: CallEvidence, beliefs: Beliefs, look: Look) -> EconomicPlan:
        match self.settings.learning_policy:
            case "documented":
                return EconomicPlan(decide(evidence, look), {})
            case "economic":
                return Economy(beliefs, self.settings.learning_failure_cost, self.random).decide(evidence, look)
            case "off":
                return EconomicPlan(stop_tests(evidence, look), {})

    async def _apply(self, evidence: CallEvidence, choices: Mapping[str, ModelChoice], look: Look) -> None:
        await self.overrides.write(evidence.tools, choices)
        helpless_now = set(helpless(evidence, look))
        for tool in helpless_now - self._helpless:
            log.warning(NO_STRONGER, tool=tool)
        self._helpless = helpless_now

    async def _look_at(self, evidence: CallEvidence) -> Look:
        now_ms = self.clock()
        recent = await self.queries.recent(now_ms - self.settings.learning_interval_ms)
        manual, routing = self.overrides.manual(), self.routing()
        available = await self.router.available() if evidence.tools else ()
        routes = dict[str, CurrentRoute]()
        for tool, known in evidence.tools.items():
            own, default = manual.find(tool), routing.table.find(tool)
            rule = own.name if own is not None else default.name if default is not None else FALLBACK
            name = rule if rule.provider in available else await self._substitute(tool, known, own)
            if name is not None:
                void = self._void(tool, known, own, name)
                routes[tool] = CurrentRoute(name, own is not None, void, recent.get(tool, 0))
        return Look(
            at=now_ms,
            routes=routes,
            routing=routing,
            costs=await self.queries.costs(),
            sequential=self.settings.learning_sequential_tests,
        )

    async def _substitute(self, tool: str, known: ToolEvidence, own: Override | None) -> ModelName | None:
        """Return who is asked in place of a model without credentials, but for tests; None where there is nobody."""
        if known.learned and own is None:
            return known.home
        decision = await self.router.decide(tool)
        match decision.reason:
            case RouteReason.NO_PROVIDERS_AVAILABLE:
                return None
            case RouteReason.DOWNGRADE_TEST:
                return known.route
            case _:
                return ModelName(provider=decision.provider, model=decision.model)

    def _void(self, tool: str, known: ToolEvidence, own: Override | None, name: ModelName) -> str:
        """Return why what was learned of a tool no longer holds; empty where it does."""
        if own is not None:
            return BY_HAND
        if self.overrides.withdrawn(tool, known):
            return WITHDRAWN
        return ELSEWHERE if name != known.home else ""
