"""The tables of calls: what the lines of MODEL_CALLS change in them, and what is asked of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.learner.beliefs import Beliefs, ModelRecord, ToolBeliefs
from actors.learner.call_evidence import CallEvidence, ToolEvidence, Trial
from actors.projection.database import Database, Row, Write, rows
from actors.projection.projection import TableUpdate
from bus.stores import JournalLine
from protocol.models import (
    INFRASTRUCTURE,
    CallLine,
    LearningStep,
    ModelCalled,
    ModelJudged,
    ModelName,
    Provider,
    RoutesLearned,
    RouteStep,
)
from protocol.routes import AskMetrics, Optimization, RouteMetric

KEPT_MS: Final = 30 * 86_400_000
"""004 "Cleanup": how long calls count in the figures."""

_CALL = "INSERT OR IGNORE INTO router_metrics VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_VERDICT = "UPDATE router_metrics SET success = ?, verified = ? WHERE id = ?"
_OPTIMIZATION = "INSERT OR IGNORE INTO routing_optimizations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_TEST_BEGUN = (
    "INSERT INTO downgrade_tests (line, tool_name, test_provider, test_model, sample_size, success_count, status, "
    "started_at) VALUES (?, ?, ?, ?, 0, 0, 'pending', ?)"
)
_TEST_ENDED = (
    "UPDATE downgrade_tests SET status = ?, sample_size = ?, success_count = ?, completed_at = ? "
    "WHERE tool_name = ? AND status = 'pending'"
)
_TOOL = (
    "INSERT INTO tools VALUES (?, ?, ?) "
    "ON CONFLICT (tool_name) DO UPDATE SET evidence = excluded.evidence, beliefs = excluded.beliefs"
)
_COUNTERS = (
    "INSERT INTO counters VALUES (1, ?, ?) "
    "ON CONFLICT (only_one) DO UPDATE SET uncounted = excluded.uncounted, models = excluded.models"
)
_TOOLS = "SELECT tool_name, evidence, beliefs FROM tools"
_TOOLS_BY_NAME = f"{_TOOLS} JOIN json_each(?) AS wanted ON tool_name = wanted.value"
_CALLS_BY_ID = (
    "SELECT call_id, router_metrics.id, tool_name, provider, model, success FROM json_each(?) AS wanted "
    "JOIN router_metrics ON call_id = wanted.value WHERE answered = 1 ORDER BY router_metrics.id"
)
_METRICS = (  # 004 "Aggregation"
    "SELECT tool_name, provider, model, COUNT(*) AS total_calls, "
    "SUM(CASE WHEN success = 1 THEN 1 ELSE 0 END) AS success_count, "
    "SUM(CASE WHEN success = 0 THEN 1 ELSE 0 END) AS failure_count, "
    "CAST(SUM(CASE WHEN success = 1 THEN 1 ELSE 0 END) AS REAL) / COUNT(*) AS success_rate, "
    "AVG(latency_ms) AS avg_latency_ms, TOTAL(estimated_cost) AS total_cost, MAX(timestamp) AS last_used, "
    "COUNT(verified), SUM(infrastructure), SUM(estimated_cost IS NULL) "
    "FROM router_metrics WHERE at >= ? AND (?2 IS NULL OR tool_name = ?2) "
    "GROUP BY tool_name, provider, model ORDER BY tool_name, success_rate DESC, provider, model"
)
_OPTIMIZATIONS = (
    "SELECT tool_name, old_provider, old_model, new_provider, new_model, reason, timestamp, old_success_rate, "
    "new_success_rate, cost_savings FROM routing_optimizations ORDER BY timestamp DESC, line DESC, number LIMIT ?"
)
_COSTS = (
    "SELECT tool_name, provider, model, AVG(estimated_cost) FROM router_metrics WHERE estimated_cost IS NOT NULL "
    "GROUP BY tool_name, provider, model"
)
_RECENT = "SELECT tool_name, COUNT(*) FROM router_metrics WHERE at >= ? GROUP BY tool_name"


class AnsweredCall(Struct, frozen=True):
    """A call that was answered, and whether it counts as a success."""

    call_id: str
    id: int
    tool_name: str
    provider: Provider
    model: str
    success: bool

    @property
    def name(self) -> ModelName:
        """Who answered."""
        return ModelName(provider=self.provider, model=self.model)


@dataclass
class _Fold:
    """What is known before some lines and then after them, and the rows that they make."""

    evidence: CallEvidence
    beliefs: Beliefs
    answered: dict[str, AnsweredCall]
    calls: list[Row] = field(default_factory=list[Row])
    verdicts: list[Row] = field(default_factory=list[Row])
    tests: list[Write] = field(default_factory=list[Write])
    optimizations: list[Row] = field(default_factory=list[Row])

    def apply(self, sequence: int, line: CallLine) -> None:
        """Apply a line."""
        match line:
            case ModelCalled():
                self._called(sequence, line)
            case ModelJudged():
                self._judged(line)
            case RoutesLearned():
                self._learned(sequence, line)

    def _called(self, sequence: int, call: ModelCalled) -> None:
        name = ModelName(provider=call.provider, model=call.model)
        infrastructure = not call.success and call.error_kind in INFRASTRUCTURE
        success = None if infrastructure else call.success
        self.evidence.call(sequence, call.tool, name, success=success)
        self.beliefs.call(call.tool, name, success=success)
        self.calls.append((
            sequence, call.call_id, call.tool, call.provider.value, call.model, call.success, call.latency_ms,
            call.cost_usd, _iso(call.at), call.at, call.success, None,
            None if call.error_kind is None else call.error_kind.value, infrastructure,
        ))  # fmt: skip
        if call.success:
            self.answered[call.call_id] = AnsweredCall(
                call.call_id, sequence, call.tool, call.provider, call.model, success=True
            )

    def _judged(self, line: ModelJudged) -> None:
        call = self.answered.get(line.call_id)
        if call is None:
            return
        self.verdicts.append((line.verified, line.verified, call.id))
        if call.success != line.verified:
            self.evidence.verdict(call.id, call.tool_name, call.name, success=line.verified)
            self.beliefs.verdict(call.tool_name, call.name, success=line.verified)
            self.answered[line.call_id] = replace(call, success=line.verified)

    def _learned(self, sequence: int, line: RoutesLearned) -> None:
        at = _iso(line.at)
        for number, step in enumerate(line.steps):
            known = self.evidence.tools.get(step.tool, ToolEvidence())
            if known.trial is not None:
                self.tests.append(_test_ended(step, known.trial, at))
            if step.step is LearningStep.TEST_STARTED and (tested := step.tested) is not None:
                row = (sequence, step.tool, tested.provider.value, tested.model, at)
                self.tests.append((_TEST_BEGUN, [row]))
            self.optimizations.append((sequence, number, *_audited(step, at)))
        self.evidence.learned(sequence, line)


class CallTables(Struct, frozen=True):
    """The calls, the audit, and what counts for the next decision: what the lines of the journal make of them."""

    database: Database
    clear: ClassVar[tuple[str, ...]] = (
        "DELETE FROM router_metrics",
        "DELETE FROM routing_optimizations",
        "DELETE FROM downgrade_tests",
        "DELETE FROM tools",
        "DELETE FROM counters",
    )
    prune: ClassVar[tuple[str, ...]] = (
        "DELETE FROM router_metrics WHERE id < ?",
        "DELETE FROM routing_optimizations WHERE line < ?",
        "DELETE FROM downgrade_tests WHERE line < ? AND status <> 'pending'",
    )

    async def update(self, lines: Sequence[JournalLine[CallLine]]) -> TableUpdate:
        """Return what some lines change, by the tools that they are of."""
        fold = await self._known(line.value for line in lines)
        for line in lines:
            fold.apply(line.sequence, line.value)
        tools = [
            (tool, _json(known), _json(fold.beliefs.tools.get(tool, ToolBeliefs())))
            for tool, known in fold.evidence.tools.items()
        ]
        counters = (fold.evidence.uncounted, _json(fold.beliefs.models))
        writes: list[Write] = [
            (_CALL, fold.calls),
            (_VERDICT, fold.verdicts),
            *fold.tests,
            (_OPTIMIZATION, fold.optimizations),
            (_TOOL, tools),
            (_COUNTERS, [counters]),
        ]
        return TableUpdate(writes, set(fold.evidence.tools))

    async def known(self) -> tuple[CallEvidence, Beliefs]:
        """Return what is known of all tools."""
        return await self._read(await self.database.read(_TOOLS))

    async def _known(self, lines: Iterable[CallLine]) -> _Fold:
        """Return what is known of what some lines are about."""
        tools, judged = set[str](), set[str]()
        for line in lines:
            tools |= {step.tool for step in line.steps} if isinstance(line, RoutesLearned) else {line.tool}
            judged |= {line.call_id} if isinstance(line, ModelJudged) else set()
        evidence, beliefs = await self._read(await self.database.read(_TOOLS_BY_NAME, (_json(sorted(tools)),)))
        calls = await self.database.read(_CALLS_BY_ID, (_json(sorted(judged)),)) if judged else []
        return _Fold(evidence, beliefs, {call.call_id: call for call in rows(AnsweredCall, calls)})

    async def _read(self, tools: Sequence[Row]) -> tuple[CallEvidence, Beliefs]:
        counters = await self.database.read("SELECT uncounted, models FROM counters")
        uncounted, models = counters[0] if counters else (0, "{}")
        evidence = {tool: msgspec.json.decode(known, type=ToolEvidence) for tool, known, _ in tools}
        beliefs = {tool: msgspec.json.decode(believed, type=ToolBeliefs) for tool, _, believed in tools}
        records = msgspec.json.decode(models, type=dict[str, ModelRecord])
        return CallEvidence(evidence, uncounted), Beliefs(beliefs, records)


class CallQueries(Struct, frozen=True):
    """The queries to the tables."""

    database: Database

    async def metrics(self, request: AskMetrics, now_ms: int) -> tuple[RouteMetric, ...]:
        """Return the figures by tool, the most successful model first (004 "Aggregation")."""
        since = max(request.since or 0, now_ms - KEPT_MS)
        return tuple(rows(RouteMetric, await self.database.read(_METRICS, (since, request.tool))))

    async def optimizations(self, limit: int) -> tuple[Optimization, ...]:
        """Return what was learned, the newest first."""
        return tuple(rows(Optimization, await self.database.read(_OPTIMIZATIONS, (limit,))))

    async def costs(self) -> Mapping[tuple[str, ModelName], float]:
        """Return what a call of a tool to a model costs on average, in USD, where prices are known."""
        means = await self.database.read(_COSTS)
        return {
            (tool, ModelName(provider=Provider(provider), model=model)): cost for tool, provider, model, cost in means
        }

    async def recent(self, since_ms: int) -> Mapping[str, int]:
        """Return how many calls of each tool there were since then."""
        return dict(await self.database.read(_RECENT, (since_ms,)))


def _audited(step: RouteStep, at: str) -> Row:
    return (
        step.tool, step.old.provider.value, step.old.model, step.new.provider.value, step.new.model,
        f"{step.step.value}: {step.why}", at, step.old_rate, step.new_rate, step.savings_usd,
    )  # fmt: skip


def _test_ended(step: RouteStep, trial: Trial, at: str) -> Write:
    status = "passed" if step.step is LearningStep.TEST_PASSED else "failed"
    return _TEST_ENDED, [(status, trial.calls, trial.successes, at, step.tool)]


def _iso(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
