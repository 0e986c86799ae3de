"""Decides who is asked (004 "Routing Logic"): override, default table, fallback; then who can be asked. Pure.

What a person has set wins over what is being tested, that over what was learned. Within each an exact name wins over
patterns, and the longest pattern over shorter ones. A model that cannot be asked is passed over for the fallbacks of
its row, and after those for the model of the same class of the first provider that can be asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec
from msgspec import Struct

from protocol.models import ModelClass, ModelName, RouteCandidate, RouteDecision, RouteReason
from protocol.routes import Override, Route
from protocol.routing import FALLBACK, FALLBACK_CLASS, PatternTable, Routing

NOT_NEEDED: Final = "another comes first"
KEYLESS: Final = "it has no credentials"
NO_IMAGES: Final = "it takes no pictures"
NO_TOOLS: Final = "it takes no tools"

WhyNot = Callable[[ModelName], str]
"""Why a model cannot be asked now; empty: it can."""


class CallFigures(Struct, frozen=True, kw_only=True):
    """What recent calls of a tool to a model came to."""

    calls: int = 0
    success_rate: float | None = None
    cost_usd: float | None = None


Figures = Callable[[ModelName], CallFigures]


class OverrideTable(Struct, frozen=True):
    """The overrides by who made them."""

    manual: PatternTable[Override] = msgspec.field(default_factory=lambda: PatternTable[Override]({}, ()))
    tested: PatternTable[Override] = msgspec.field(default_factory=lambda: PatternTable[Override]({}, ()))
    learned: PatternTable[Override] = msgspec.field(default_factory=lambda: PatternTable[Override]({}, ()))

    @classmethod
    def of(cls, rows: Iterable[Override]) -> OverrideTable:
        """Sort the rows of ROUTE_OVERRIDES."""
        rows = tuple(rows)
        return cls(
            manual=PatternTable[Override].of(row for row in rows if row.manual),
            tested=PatternTable[Override].of(row for row in rows if not row.manual and _is_test(row)),
            learned=PatternTable[Override].of(row for row in rows if not row.manual and not _is_test(row)),
        )


class Kept(Struct, frozen=True, kw_only=True):
    """Who has answered a conversation before: `rule` is whom the table named then, and must still name."""

    name: ModelName
    reason: RouteReason
    rule: ModelName


class RoutePlan(Struct, frozen=True, kw_only=True):
    """A decision, and who is asked in turn: the first is the one decided for; none where nobody can be asked."""

    decision: RouteDecision
    usable: tuple[ModelName, ...]
    rule: ModelName
    """Whom the table names, whether it can be asked or not."""


class RouteRequest(Struct, frozen=True, kw_only=True):
    """What is decided: for which tool, whether pictures are shown, and what goes before the table.

    `draw` is a random number of [0, 1) that says whether this call goes to a model under test.
    """

    tool: str
    images: bool = False
    pin: ModelName | None = None
    kept: Kept | None = None
    draw: float = 1.0


class RoutingTable(Struct, frozen=True):
    """The configuration with the overrides over it."""

    routing: Routing = msgspec.field(default_factory=Routing)
    overrides: OverrideTable = msgspec.field(default_factory=OverrideTable)

    def decide(self, request: RouteRequest, why_not: WhyNot, figures: Figures) -> RoutePlan:
        """Choose among those that can be asked; the reason is one of 004's five."""
        rule, reason = self._rule(request.tool)
        if request.pin is not None:
            return _plan(((request.pin, RouteReason.OPTIMIZED),), rule, why_not, figures)
        return _plan(self._choices(request, rule, reason), rule, why_not, figures)

    def routes(self) -> Iterator[Route]:
        """Yield the rows in the order in which they are tried, the fallback as the last; each pattern once.

        What is tested gets a share of the calls alone, and is in the audit.
        """
        listed = set[str]()
        for rows in (self.overrides.manual, self.overrides.learned):
            for row in rows.rows():
                if row.pattern not in listed:
                    listed.add(row.pattern)
                    yield _override_row(row, self.routing.category(row.pattern.rstrip("*")))
        for default in self.routing.table.rows():
            if default.pattern not in listed:
                listed.add(default.pattern)
                yield _row(default.pattern, default.name, default.category)
        if "*" not in listed:
            yield _row("*", FALLBACK, FALLBACK_CLASS)

    def _rule(self, tool: str) -> tuple[ModelName, RouteReason]:
        """Return whom the table names: override, default, fallback."""
        override = self.overrides.manual.find(tool) or self.overrides.learned.find(tool)
        if override is not None:
            return override.name, RouteReason.OPTIMIZED
        default = self.routing.table.find(tool)
        return (FALLBACK, RouteReason.FALLBACK) if default is None else (default.name, RouteReason.DEFAULT)

    def _choices(
        self, request: RouteRequest, rule: ModelName, reason: RouteReason
    ) -> Iterator[tuple[ModelName, RouteReason]]:
        """Yield whom to ask, the best first."""
        tested = None if self.overrides.manual.find(request.tool) else self.overrides.tested.find(request.tool)
        kept = request.kept
        if kept is not None and kept.rule == rule and (kept.reason is not RouteReason.DOWNGRADE_TEST or tested):
            yield kept.name, kept.reason
        elif tested is not None and request.draw < tested.share:
            yield tested.name, RouteReason.DOWNGRADE_TEST
        yield rule, reason
        default = self.routing.table.find(request.tool)
        for name in () if default is None else (default.name, *default.fallbacks):
            yield name, RouteReason.FALLBACK
        category = ModelClass.VISION if request.images else self.routing.category(request.tool)
        for provider in self.routing.order:
            if (mapped := self.routing.model(provider, category)) is not None:
                yield mapped, RouteReason.FALLBACK


def _plan(
    choices: Iterable[tuple[ModelName, RouteReason]], rule: ModelName, why_not: WhyNot, figures: Figures
) -> RoutePlan:
    reasons = dict[ModelName, RouteReason]()
    for name, reason in choices:
        reasons.setdefault(name, reason)
    refusals = {name: why_not(name) for name in reasons}
    usable = tuple(name for name in reasons if not refusals[name])
    chosen = usable[0] if usable else next(iter(reasons))
    candidates = tuple(
        _candidate(name, figures(name), refusal or ("" if name is chosen else NOT_NEEDED))
        for name, refusal in refusals.items()
    )
    decision = RouteDecision(
        provider=chosen.provider,
        model=chosen.model,
        reason=reasons[chosen] if usable else RouteReason.NO_PROVIDERS_AVAILABLE,
        candidates=candidates,
    )
    return RoutePlan(decision=decision, usable=usable, rule=rule)


def _candidate(name: ModelName, known: CallFigures, why_not: str) -> RouteCandidate:
    return RouteCandidate(
        name=name, calls=known.calls, success_rate=known.success_rate, cost_usd=known.cost_usd, why_not=why_not
    )


def _is_test(row: Override) -> bool:
    return row.reason == "downgrade_test"


def _override_row(row: Override, category: ModelClass) -> Route:
    return Route(
        tool_pattern=row.pattern,
        provider=row.name.provider,
        model=row.name.model,
        category=category,
        is_override=True,
        manual=row.manual,
    )


def _row(pattern: str, name: ModelName, category: ModelClass) -> Route:
    return Route(tool_pattern=pattern, provider=name.provider, model=name.model, category=category, is_override=False)
