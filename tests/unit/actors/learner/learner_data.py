"""Calls of models as their lines tell them, a router that says who is asked, and a learner that reads them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import anyio

from actors.actor import handlers
from actors.learner.actor import Learner
from actors.settings import Settings
from bus import Bus
from bus.seal import Seal, new_key
from bus.stores import JournalLog, KeyTable
from bus.transport import Transport
from protocol import subjects
from protocol.models import (
    LEARNED_TOPIC,
    CallErrorKind,
    CallLine,
    LearnerTurn,
    ModelCalled,
    ModelJudged,
    ModelName,
    Provider,
    RouteDecision,
    RouteReason,
    RoutesLearned,
)
from protocol.routes import (
    AskMetrics,
    AskRoute,
    ListOptimizations,
    ListRoutes,
    Optimization,
    Override,
    RouteChange,
    RouteMetric,
    RouteTable,
    override_key,
)

KEY = new_key()
NOW = 1_800_000_000_000
TOOL = "browser_navigate"
READING = "browser_get_page_content"
"""Tools that the default table sends to HAIKU and to SONNET."""
HAIKU, SONNET, OPUS = (
    ModelName(provider=Provider.ANTHROPIC, model=model)
    for model in ("claude-haiku-4-5-20251001", "claude-sonnet-4-5-20250929", "claude-opus-4-6")
)
MINI, LARGER = (ModelName(provider=Provider.OPENAI, model=model) for model in ("gpt-4o-mini", "gpt-4o"))
INTERVAL_MS = 100

_numbers = count()


def called(*, success: bool = True, name: ModelName = HAIKU, tool: str = TOOL, **other: Any) -> ModelCalled:
    fields: dict[str, Any] = {
        "call_id": f"call_{next(_numbers)}",
        "at": NOW,
        "latency_ms": 100,
        "reason": RouteReason.DEFAULT,
        "cost_usd": 0.001,
        **other,
    }
    return ModelCalled(tool=tool, provider=name.provider, model=name.model, success=success, **fields)


def failures(number: int, name: ModelName = HAIKU, tool: str = TOOL) -> list[ModelCalled]:
    return [called(success=False, name=name, tool=tool, error_kind=CallErrorKind.MALFORMED) for _ in range(number)]


def judged(call: ModelCalled, *, verified: bool) -> ModelJudged:
    return ModelJudged(call_id=call.call_id, at=NOW, tool=call.tool, verified=verified)


@dataclass
class Asking:
    """Somebody who writes calls, answers as the router does, and asks learners."""

    bus: Bus
    journal: JournalLog[CallLine]
    overrides: KeyTable[Override]
    turn: KeyTable[LearnerTurn]
    available: tuple[Provider, ...] = (Provider.ANTHROPIC,)
    meanwhile: list[RoutesLearned] = field(default_factory=list[RoutesLearned])
    """What another replica writes down as soon as the next look has begun."""

    async def write(self, *lines: CallLine) -> None:
        for line in lines:
            await self.journal.append(getattr(line, "tool", "other"), line)

    async def list(self, _: ListRoutes) -> RouteTable:
        """Say who has credentials, as the router does."""
        while self.meanwhile:
            await self.journal.append(LEARNED_TOPIC, self.meanwhile.pop())
        return RouteTable(routes=(), available=self.available)

    async def decide(self, request: AskRoute) -> RouteChange:
        """Decide as the router does where only OpenAI has credentials: what is tested, what was learned, the table."""
        base = override_key(request.tool)
        row = await self.row(f"{base}.test") or await self.row(base)
        name = MINI if row is None else row.name
        reason = RouteReason.FALLBACK if row is None else RouteReason(row.reason)
        decision = RouteDecision(provider=name.provider, model=name.model, reason=reason)
        return RouteChange(tool_pattern=request.tool, decision=decision)

    async def metrics(self, **other: Any) -> tuple[RouteMetric, ...]:
        return (await self.bus.call(subjects.ROUTE_METRICS, AskMetrics(**other))).metrics

    async def audit(self, limit: int = 50) -> tuple[Optimization, ...]:
        return (await self.bus.call(subjects.ROUTE_AUDIT, ListOptimizations(limit=limit))).optimizations

    async def set_by_hand(self, name: ModelName, pattern: str = TOOL) -> Override:
        row = Override(pattern=pattern, name=name, reason="optimized", manual=True, updated_at=NOW)
        await self.overrides.put(row.key, row)
        return row

    async def row(self, key: str = override_key(TOOL)) -> Override | None:
        entry = await self.overrides.get(key)
        return None if entry is None else entry.value

    async def until(
        self, expected: Callable[[Override | None], bool], key: str = override_key(TOOL)
    ) -> Override | None:
        """Wait until the row of a key is as expected."""
        while not expected(row := await self.row(key)):
            await anyio.sleep(0.005)
        return row

    async def looked(self) -> None:
        """Wait until somebody has looked from the beginning to the end."""
        for _ in range(3):
            before = await self.turn.get("turn")
            while await self.turn.get("turn") == before:
                await anyio.sleep(0.005)


@asynccontextmanager
async def asking(transport: Transport, *, routes: bool = True) -> AsyncGenerator[Asking]:
    """Take part as somebody who may everything, and with `routes` as the router who says who is asked."""
    async with Bus(transport, "asker", "r1").running() as bus:
        bus.seal = Seal.of(KEY)
        await bus.table(subjects.PATTERNS)
        asker = Asking(
            bus,
            await bus.journal(subjects.MODEL_CALLS),
            await bus.table(subjects.ROUTE_OVERRIDES),
            await bus.table(subjects.LEARNER_TURN),
        )
        if routes:
            await bus.serve(subjects.ROUTES, asker.list, at_once=64)
            await bus.serve(subjects.ROUTE, asker.decide, at_once=64)
        await transport.flush()
        yield asker


@asynccontextmanager
async def learning(transport: Transport, folder: Path, replica: str = "r1", **settings: Any) -> AsyncGenerator[Learner]:
    """Run a learner as a replica does."""
    async with Bus(transport, "learner", replica).running() as bus:
        bus.seal = Seal.of(KEY)
        settings.setdefault("learning_interval_ms", INTERVAL_MS)
        chosen = Settings(data_dir=folder, **settings)
        learner = Learner(bus=bus, settings=chosen, random=Random(1))
        async with learner.open():
            for handler in handlers(Learner):
                await bus.serve(handler.subject, getattr(learner, handler.method), at_once=handler.at_once)
            await transport.flush()
            yield learner
            await bus.drain(1_000)
