"""Looks at the calls again and again, writes down what follows from them, and has the routes be so."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final, Protocol

import anyio
import structlog

from actors.learner.beliefs import Beliefs
from actors.learner.economic import EconomicPlan, Economy, ModelChoice
from actors.learner.evidence import CallEvidence, ToolEvidence
from actors.learner.overrides import LearnedOverrides
from actors.learner.rules import CurrentRoute, Look, decide, helpless, stop_tests
from actors.learner.tables import CallQueries, CallTables
from actors.learner.turn import ReplicaTurn
from actors.projection.consumer import JournalConsumer
from actors.settings import Settings
from bus.errors import TransportError
from protocol.faults import FaultError
from protocol.models import LEARNED_TOPIC, CallLine, ModelName, RouteReason
from protocol.routes import RouteChange
from protocol.routing import Routing

log = structlog.stdlib.get_logger()

ROUTE_LEARNED: Final = "route_learned"
NOT_LOOKED: Final = "calls_of_models_not_looked_at"
NO_STRONGER: Final = "no_stronger_model"

READ_MS: Final = 10_000
"""How long a look waits until the tables are at the end of the journal."""


class AskWhoIsAsked(Protocol):
    """Asks the router whom it would ask for a tool."""

    async def __call__(self, tool: str) -> RouteChange:
        """Return the decision; FaultError where there is none."""
        ...


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
    route: AskWhoIsAsked
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
        last = await self.consumer.journal.last(LEARNED_TOPIC)
        await self.consumer.wait_current(READ_MS)
        evidence, beliefs = await self.tables.known()
        look = await self._look_at(evidence)
        plan = self._plan(evidence, beliefs, look)
        if plan.learned is not None:
            try:
                await self.consumer.journal.append(
                    LEARNED_TOPIC, plan.learned, last=0 if last is None else last.sequence
                )
            except ValueError:  # another replica has decided meanwhile
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
        routes = dict[str, CurrentRoute]()
        manual = self.overrides.manual()
        for tool, known in evidence.tools.items():
            by_hand, withdrawn = manual.find(tool) is not None, self.overrides.withdrawn(tool, known)
            stands = known.learned and not by_hand
            name = known.home if stands else await self._asked_now(tool, known)
            if name is not None:
                routes[tool] = CurrentRoute(name, by_hand, withdrawn, recent.get(tool, 0))
        return Look(
            at=now_ms,
            routes=routes,
            routing=self.routing(),
            costs=await self.queries.costs(),
            sequential=self.settings.learning_sequential_tests,
        )

    async def _asked_now(self, tool: str, known: ToolEvidence) -> ModelName | None:
        """Return whom the router asks for a tool, but for tests; None where it can ask nobody."""
        decision = (await self.route(tool)).decision
        match decision.reason:
            case RouteReason.NO_PROVIDERS_AVAILABLE:
                return None
            case RouteReason.DOWNGRADE_TEST:
                return known.route
            case _:
                return ModelName(provider=decision.provider, model=decision.model)
