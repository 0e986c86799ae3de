"""How well steps are judged: `scripts/bench steps`, on pages made by seeds that the rules were not fitted to.

Each page is shown by a real browser; an action is done on it as it should be, or goes wrong in one of the ways in which
actions do. `python -m tests.bench.steps FIRST LAST` prints what is found of other seeds, by what it was found from.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from anyio import to_thread

from actors.verifier.steps.attribution import StepEvidence
from actors.verifier.steps.effects import effect
from actors.verifier.steps.rules import verdict_of
from protocol.acting.steps import StepVerdict
from tests.acting.step_cases import StepCase, collect
from tests.bench.table import Row
from tests.integration.playwright.viewing import viewing

FIRST, LAST = 3_000, 3_110
"""The seeds that no rule was fitted to."""

FALSE_SUCCESS, MISSED, ECE = 0.02, 0.05, 0.05
_BINS = 10


@dataclass(frozen=True)
class JudgedStep:
    """A case with its verdict, and the finding that the verdict goes by."""

    case: StepCase
    verdict: StepVerdict
    band: str


async def measure() -> list[Row]:
    """Measure verdicts against what is true; takes some minutes."""
    return figures(await to_thread.run_sync(lambda: judged_steps(range(FIRST, LAST))))


def judged_steps(seeds: Iterable[int]) -> list[JudgedStep]:
    """Return the cases of seeds with their verdicts."""
    with viewing() as web:
        return [judged(case) for case in collect(web, seeds)]


def judged(case: StepCase) -> JudgedStep:
    """Judge a case."""
    evidence = StepEvidence.of(case.claim)
    return JudgedStep(case, verdict_of(evidence), effect(evidence).band)


def figures(steps: Sequence[JudgedStep]) -> list[Row]:
    """Return how many verdicts say success of what was none, miss one, and how far off their confidence is."""
    claimed = [one for one in steps if one.verdict.succeeded]
    true = [one for one in steps if one.case.truth]
    wrong = sum(not one.case.truth for one in claimed)
    missed = sum(not one.verdict.succeeded for one in true)
    count = f"{len(steps)} steps, {len(true)} done as they should be"
    error = calibration_error((one.verdict.confidence, one.case.truth) for one in steps)
    return [
        _share("steps: success where there was none", wrong, len(claimed), count, FALSE_SUCCESS),
        _share("steps: success that was missed", missed, len(true), count, MISSED),
        Row("steps: error of the confidence (ECE)", "", count, error, ECE, "<=", ""),
    ]


def _share(what: str, some: int, whole: int, count: str, bound: float) -> Row:
    return Row(what, f"{some} of {whole}", count, some / max(1, whole), bound, "<=", "")


def calibration_error(judged: Iterable[tuple[float, bool]]) -> float:
    """Return by how much confidence and truth differ, over ten bands of confidence (ECE)."""
    bins = defaultdict[int, list[tuple[float, bool]]](list)
    for confidence, truth in judged:
        bins[min(_BINS - 1, int(confidence * _BINS))].append((confidence, truth))
    gaps = (abs(sum(confidence - truth for confidence, truth in group)) for group in bins.values())
    return sum(gaps) / max(1, sum(map(len, bins.values())))


def main(first: int, last: int) -> None:
    """Print what is found of the pages of some seeds, by findings, and each verdict that is wrong."""
    steps = judged_steps(range(first, last))
    groups = defaultdict[str, list[JudgedStep]](list)
    for one in steps:
        groups[f"{one.band} {one.verdict.confidence}"].append(one)
        if one.verdict.succeeded is not one.case.truth:
            print(one.case.seed, one.case.page, one.case.mishap.value, one.band, *one.verdict.evidence)
    for name, group in sorted(groups.items()):
        print(f"{name}: {sum(one.case.truth for one in group)} of {len(group)}")
    for row in figures(steps):
        print(row.what, row.ours, round(row.figure, 4))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
