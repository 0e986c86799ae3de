"""What recent calls of a tool to a model came to, as this replica has seen them: shown beside each decision. Pure."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from actors.router.table import CallFigures
from protocol.models import INFRASTRUCTURE, ModelCalled, ModelName

MOST_KEPT: Final = 2_000
"""Pairs of tool and model; those that were asked longest ago are forgotten."""

RECENT: Final = 200
"""When so many calls were counted, each counts half from there on."""

NOTHING: Final = CallFigures()


@dataclass
class _Sums:
    calls: float = 0
    successes: float = 0
    priced: float = 0
    cost_usd: float = 0

    def figures(self) -> CallFigures:
        return CallFigures(
            calls=round(self.calls),
            success_rate=self.successes / self.calls if self.calls else None,
            cost_usd=self.cost_usd / self.priced if self.priced else None,
        )


@dataclass
class RecentCalls:
    """Counts calls by tool and model; what failed for the infrastructure's sake says nothing of a model."""

    _sums: OrderedDict[tuple[str, ModelName], _Sums] = field(
        default_factory=OrderedDict[tuple[str, ModelName], _Sums], init=False
    )

    def add(self, call: ModelCalled) -> None:
        """Count a call."""
        if call.error_kind in INFRASTRUCTURE:
            return
        key = (call.tool, ModelName(provider=call.provider, model=call.model))
        sums = self._sums.setdefault(key, _Sums())
        self._sums.move_to_end(key)
        if len(self._sums) > MOST_KEPT:
            self._sums.popitem(last=False)
        if sums.calls >= RECENT:
            sums.calls, sums.successes = sums.calls / 2, sums.successes / 2
            sums.priced, sums.cost_usd = sums.priced / 2, sums.cost_usd / 2
        sums.calls += 1
        sums.successes += call.success
        if call.cost_usd is not None:
            sums.priced += 1
            sums.cost_usd += call.cost_usd

    def of(self, tool: str, name: ModelName) -> CallFigures:
        """Return what is known of a model at a tool."""
        sums = self._sums.get((tool, name))
        return NOTHING if sums is None else sums.figures()
