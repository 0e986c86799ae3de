"""What a report counts: runs by template, pages by tier and outcome, and how sure pages were."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Final

import msgspec
from msgspec import Struct

from protocol.runs.responses import RunSummary
from protocol.visits import VisitInfo

TENTHS: Final = 10
_RELIABILITY: Final = "package_data/reliability.json"


class ReportData(Struct, frozen=True, kw_only=True):
    """What a report is made of; times in ms since the epoch. `more` says that there was more than could be read.

    `benchmarks` is what `./scripts/bench` has printed, where it is given.
    """

    since: int
    until: int
    version: str
    runs: tuple[RunSummary, ...]
    visits: tuple[VisitInfo, ...]
    kept_days: int
    more: bool = False
    benchmarks: str = ""


class Measured(Struct, frozen=True):
    """What was said against what came: pages with a confidence from `start` on, its mean, and that of what came."""

    start: float
    pages: int
    predicted: float
    result: float


class Reliability(Struct, frozen=True, kw_only=True):
    """How far confidence holds on pages whose gold is known: `of` says of what. Written by scripts/train-extraction."""

    of: str
    bins: tuple[tuple[float, int, float, float], ...]

    @property
    def measured(self) -> tuple[Measured, ...]:
        """The bins, from the lowest confidence on."""
        return tuple(Measured(*one) for one in self.bins)


class PageRow(Struct, frozen=True, kw_only=True):
    """The pages of one tier that came to one outcome, and how long they took, in ms."""

    tier: str
    outcome: str
    count: int
    p50_ms: int
    p99_ms: int


def shipped_reliability() -> Reliability:
    """Read what was measured when the models were trained."""
    data = files("actors.report").joinpath(_RELIABILITY).read_bytes()
    return msgspec.json.decode(data, type=Reliability)


def runs_by_template(runs: Iterable[RunSummary]) -> Mapping[str, Counter[str]]:
    """Count how the runs of each template stand."""
    counted: dict[str, Counter[str]] = {}
    for run in runs:
        counted.setdefault(run.template_id, Counter())[run.status.value] += 1
    return dict(sorted(counted.items()))


def pages_by_tier(visits: Iterable[VisitInfo]) -> tuple[PageRow, ...]:
    """Group pages by tier and outcome, the most frequent first."""
    grouped: dict[tuple[str, str], list[int]] = {}
    for visit in visits:
        outcome = "read" if visit.code is None else visit.code.value
        grouped.setdefault((visit.tier or "none", outcome), []).append(visit.took_ms)
    rows = (
        PageRow(tier=tier, outcome=outcome, count=len(took), p50_ms=percentile(took, 50), p99_ms=percentile(took, 99))
        for (tier, outcome), took in grouped.items()
    )
    return tuple(sorted(rows, key=lambda row: (-row.count, row.tier, row.outcome)))


def percentile(values: Sequence[int], share: int) -> int:
    """Return the nearest-rank percentile of some values, of which there is one at least."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share / 100 * len(ordered)) - 1, 0)]


def confidence_counts(visits: Iterable[VisitInfo]) -> tuple[int, ...]:
    """Count pages by the tenth that their overall confidence lies in."""
    counts = [0] * TENTHS
    for visit in visits:
        if visit.confidence is not None:
            counts[min(int(visit.confidence * TENTHS), TENTHS - 1)] += 1
    return tuple(counts)
