"""How well the judge tells pages from what stands in their place: `scripts/bench judge VERDICT_DIR EXTRACTION_DIR`.

Every page is judged by a model that has not seen its site, and is sent with status 200; then with its true status.
All pages come through the first tier. The rows of the other tiers judge the same evidence by the rules of those tiers
(a browser has nothing more to come): they hold the rules, and say nothing of what those tiers would show.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from anyio import to_thread
from msgspec import structs

from actors.verifier.model import Assessment
from actors.verifier.rules import judge
from protocol.tiers import RenderTier
from scripts.judge_training import fitting, scores
from scripts.judge_training.__main__ import table_of
from scripts.judge_training.data import Example
from scripts.judge_training.scores import Judged
from tests.bench.table import Row

CERTIFIED, RIGHT_KIND, REFUSED, DOUBTED = 0.02, 0.88, 0.007, 0.05
LOOKALIKES_REFUSED = 0.02
ECE, AUROC, CPU_MS = 0.03, 0.985, 2.0
_FEW = 20


async def measure(verdict_dir: Path, extraction_dir: Path) -> list[Row]:
    """Measure everything; takes some minutes."""
    return await to_thread.run_sync(_measure, verdict_dir, extraction_dir)


def _measure(verdict_dir: Path, extraction_dir: Path) -> list[Row]:
    table = table_of(verdict_dir, extraction_dir)
    assessed = fitting.cross_validated(table, fitting.fold_models(table))
    judged = scores.verdicts(assessed)
    return [
        *_all(judged),
        *_true_status(scores.verdicts(assessed, true_status=True)),
        *_groups("kind", scores.groups(judged, scores.kind_name).items()),
        *_groups("language", scores.groups(judged, scores.language_group).items()),
        *_tiers(assessed),
        _cpu([example for example, _ in assessed]),
    ]


def _all(judged: Sequence[Judged]) -> Iterable[Row]:
    found, held, whole = scores.figures(judged), scores.probabilities(judged), scores.overalls(judged)
    yield _share("stand-ins given with overall .70 or more", found.certified, CERTIFIED, "<=", found.stand_ins)
    yield _share("stand-ins refused with the right kind", found.right_kind, RIGHT_KIND, ">=", found.stand_ins)
    yield _share("healthy pages refused", found.refused, REFUSED, "<=", found.healthy)
    yield _share("healthy pages with overall below .50", found.doubted, DOUBTED, "<=", found.healthy)
    for subtype in ("about_errors", "short"):
        group = [one for one in judged if one.example.subtype == subtype]
        share = scores.figures(group).refused
        yield _share(f"healthy pages refused, {subtype}", share, LOOKALIKES_REFUSED, "<=", len(group))
    yield Row("probability, ECE", f"{held.ece:.3f}", "–", held.ece, ECE, "<=", "")
    yield Row("probability, AUROC", f"{held.auroc:.4f}", ".988 (floor)", held.auroc, AUROC, ">=", "")
    yield Row("overall, ECE", f"{whole.ece:.3f}", "–", whole.ece, ECE, "<=", "")
    yield Row("overall, AUROC", f"{whole.auroc:.4f}", ".988 (floor)", whole.auroc, AUROC, ">=", "")


def _true_status(judged: Sequence[Judged]) -> Iterable[Row]:
    refused = [one for one in judged if one.example.kind is not None and one.example.status >= 400]
    found = scores.figures(refused)
    yield _share("true status: given with overall .70 or more", found.certified, 0.0, "<=", found.stand_ins)
    yield _share("true status: refused with the right kind", found.right_kind, 1.0, ">=", found.stand_ins)


def _groups(what: str, groups: Iterable[tuple[str, Sequence[Judged]]]) -> Iterable[Row]:
    """Return the figures of each group; those of few pages keep no bound."""
    for name, group in groups:
        found = scores.figures(group)
        if found.stand_ins:
            loose = found.stand_ins < _FEW
            bounds = (1.0, 0.0) if loose else (3 * CERTIFIED, RIGHT_KIND - 0.1)
            yield _share(f"{what} {name}: given with .70 or more", found.certified, bounds[0], "<=", found.stand_ins)
            yield _share(f"{what} {name}: right kind", found.right_kind, bounds[1], ">=", found.stand_ins)
        if found.healthy:
            bound = 1.0 if found.healthy < _FEW else 0.15
            yield _share(f"{what} {name}: healthy refused", found.refused, bound, "<=", found.healthy)


def _tiers(assessed: Sequence[tuple[Example, Assessment]]) -> Iterable[Row]:
    """Judge what the first tier saw by the rules of another."""
    for tier in (RenderTier.LIGHTWEIGHT, RenderTier.PLAYWRIGHT):
        shown = [(_shown_by(example, tier), assessment) for example, assessment in assessed]
        found = scores.figures(scores.verdicts(shown))
        name = f"first tier's evidence by the rules of {tier.value}"
        yield _share(f"{name}: given with .70 or more", found.certified, CERTIFIED, "<=", found.stand_ins)
        yield _share(f"{name}: right kind", found.right_kind, RIGHT_KIND, ">=", found.stand_ins)
        yield _share(f"{name}: healthy refused", found.refused, 2 * REFUSED, "<=", found.healthy)


def _shown_by(example: Example, tier: RenderTier) -> Example:
    """Return an example as if another tier had seen the same of it."""
    return replace(example, claim=structs.replace(example.claim, tier=tier))


def _cpu(examples: Sequence[Example]) -> Row:
    chosen = examples[::5]
    judge(chosen[0].claim)
    started = time.process_time()
    for example in chosen:
        judge(example.claim)
    spent = (time.process_time() - started) * 1000 / len(chosen)
    return Row("CPU a page", f"{spent:.2f} ms", "–", spent, CPU_MS, "<=", "ms")


def _share(what: str, share: float, bound: float, sense: Literal["<=", ">="], count: int) -> Row:
    return Row(what, f"{share:.1%}", f"of {count}", share, bound, sense, "")
