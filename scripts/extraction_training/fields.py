"""Trains and measures the votes on title, author and date."""

from __future__ import annotations

import io
import sys
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from actors.fetchers.extract import charset, tree
from actors.fetchers.extract.choice.layout import Floats
from actors.fetchers.extract.choice.trees import Scores, Trees
from actors.fetchers.extract.fields.election import AGREE, LEAST, evidence, judged
from actors.fetchers.extract.fields.questions import Question, ordered, questions
from actors.fetchers.extract.sources import sources
from scripts.extraction_training import boosting, scoring
from scripts.extraction_training.boosting import Settings
from scripts.extraction_training.data import FOLDS, GoldPage, pages

MODEL = Path("actors/fetchers/extract/fields/model.npz")

SETS = ("wcxb_dev", "aed", "readability", "traf", "defuddle")
"""The sets whose gold answers have a title, an author or a date."""

TREES: Settings = {
    "objective": "cross_entropy",
    "learning_rate": 0.06,
    "num_leaves": 16,
    "min_data_in_leaf": 15,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5,
    "max_bin": 63,
}
ROUNDS = 150

COMMON = 8
"""On so many pages must a word of a place stand to become a feature."""

NEAR = 0.3
"""What a candidate's likeness to the gold answer counts as a label; the rest is whether it is the same."""

WITHOUT = 0.1
"""What a page that has no gold answer counts when confidence is fitted, against one that has."""

_STEPS = 40
_RIDGE = 1.0


@dataclass(frozen=True)
class Asked:
    """A question put to a page: the candidates, and how good each of them is by the gold answer.

    `same` tells whether a candidate is the answer, `like` how much it is like it; all are 0 where there is none.
    """

    page: GoldPage
    question: Question
    same: tuple[float, ...]
    like: tuple[float, ...]
    answered: bool = True


@dataclass(frozen=True)
class Outcome:
    """What was elected by trees that had not seen the site: its share and what else tells how sure that is."""

    asked: Asked
    best: int
    evidence: tuple[float, ...]
    elected: bool

    @property
    def score(self) -> float:
        """How good it is, 0 for nothing elected."""
        return self.asked.like[self.best] if self.elected else 0.0


def train(data_dir: Path) -> str:
    """Train the three votes, write their model, and give the report."""
    asked = read(data_dir)
    arrays: dict[str, NDArray[np.generic]] = {}
    rows = ["| field | set | pages | score | same | confidence | ECE | AUROC |", "|---|---|---|---|---|---|---|---|"]
    for name in AGREE:
        print(f"voting on {name} ...", file=sys.stderr, flush=True)
        outcomes = _crosswise(name, asked[name])
        rows += _table(name, outcomes, _crosswise_sure(outcomes))
        arrays |= _fit(asked[name]).save(name)
        arrays[f"{name}.sure"] = np.round(_fit_sure(outcomes), 6)
    _save(arrays, MODEL)
    table = "\n".join(rows)
    print(table)
    return f"{_OPENING}\n\n{table}\n\n{_REMARKS}"


def read(data_dir: Path) -> dict[str, list[Asked]]:
    """Put every question to every page that has something to learn from."""
    found: dict[str, list[Asked]] = {name: [] for name in AGREE}
    for page in pages(data_dir, *SETS):
        source, _ = charset.decode(page.body(), "text/html")
        parsed = tree.read(source, page.url)
        claims = ordered(claim for source in sources() for claim in source.claims(parsed))
        for name, question in questions(parsed, claims).items():
            if one := _asked(page, name, question):
                found[name].append(one)
    return found


def _asked(page: GoldPage, name: str, question: Question) -> Asked | None:
    """Label the candidates; None where the data do not say whether there is an answer."""
    gold = page.gold.get(name) or ""
    values = [candidate.value for candidate in question.candidates]
    none = (0.0,) * len(values)
    if not gold:
        silent = name != "title" and (page.gold.get("has_meta") or page.dataset == "wcxb_dev")
        return Asked(page, question, none, none, answered=False) if silent else None
    if name == "author":
        like = tuple(scoring.author_f1(value.replace("\n", " "), gold) for value in values)
        if any(one is None for one in like):
            return None
        sure = tuple(one or 0.0 for one in like)
        return Asked(page, question, tuple(float(one == 1) for one in sure), sure)
    if name == "title":
        same = tuple(scoring.title_exact(value, gold) for value in values)
        return Asked(page, question, same, tuple(scoring.title_loose(value, gold) for value in values))
    same = tuple(float(value == scoring.day(gold)) for value in values)
    return Asked(page, question, same, same)


def _fit(asked: Sequence[Asked]) -> Trees:
    names = _names(asked)
    place = {name: at for at, name in enumerate(names)}
    rows = [row for one in asked for row in one.question.rows]
    matrix: Floats = np.zeros((len(rows), len(names)), np.float32)
    for at, row in enumerate(rows):
        for name, value in row.items():
            if name in place:
                matrix[at, place[name]] = value
    same = np.array([value for one in asked for value in one.same], np.float32)
    like = np.array([value for one in asked for value in one.like], np.float32)
    labels: Floats = ((1 - NEAR) * same + NEAR * like).astype(np.float32)
    return boosting.fit(boosting.Rows(matrix, labels, names), TREES, ROUNDS).table()


def _names(asked: Sequence[Asked]) -> list[str]:
    """Give the features that are common enough to learn from."""
    counts = Counter(name for one in asked for name in {name for row in one.question.rows for name in row})
    return sorted(name for name, count in counts.items() if count >= COMMON)


def _crosswise(name: str, asked: Sequence[Asked]) -> list[Outcome]:
    """Elect on each page by trees that were fitted on the other folds."""
    found: list[Outcome] = []
    for fold in range(FOLDS):
        trees = _fit([one for one in asked if one.page.fold() != fold])
        found += [_outcome(name, trees, one) for one in asked if one.page.fold() == fold]
    return found


def _outcome(name: str, trees: Trees, one: Asked) -> Outcome:
    if not one.question.candidates:
        return Outcome(one, 0, (), elected=False)
    shares: Scores = judged(trees, one.question.rows)
    best = int(shares.argmax())
    found = evidence(name, one.question.candidates, shares, best)
    return Outcome(one, best, tuple(found), elected=bool(shares[best] >= LEAST[name]))


def _fit_sure(outcomes: Iterable[Outcome]) -> NDArray[np.float64]:
    """Fit a logistic regression of how good the elected are on what tells how sure that is."""
    elected = [one for one in outcomes if one.elected]
    rows = np.array([[*one.evidence, 1.0] for one in elected])
    goal = np.array([one.score for one in elected])
    weight = np.array([1.0 if one.asked.answered else WITHOUT for one in elected])
    ridge = np.diag([_RIDGE] * (rows.shape[1] - 1) + [1e-6])
    factors = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        said = 1 / (1 + np.exp(-rows @ factors))
        slope = rows.T @ (weight * (said - goal)) + ridge @ factors
        curve = (rows * (weight * said * (1 - said))[:, None]).T @ rows + ridge
        factors = factors - np.linalg.solve(curve, slope)
    return factors


def _crosswise_sure(outcomes: Sequence[Outcome]) -> list[float]:
    """Give the confidence in each outcome, fitted on the other folds."""
    factors = [_fit_sure([one for one in outcomes if one.asked.page.fold() != fold]) for fold in range(FOLDS)]
    return [
        float(1 / (1 + np.exp(-np.dot(factors[one.asked.page.fold()], [*one.evidence, 1.0])))) if one.elected else 0.0
        for one in outcomes
    ]


def _table(name: str, outcomes: Sequence[Outcome], sure: Sequence[float]) -> Iterator[str]:
    pairs = list(zip(outcomes, sure, strict=True))
    answered = [(one, said) for one, said in pairs if one.asked.answered]
    for dataset in SETS:
        yield _row(name, dataset, [(one, said) for one, said in answered if one.asked.page.dataset == dataset])
    yield _row(name, "all", answered)
    silent = [(one, said) for one, said in pairs if not one.asked.answered]
    if silent:
        told = [said for one, said in silent if one.elected]
        yield f"| {name} | no answer | {len(silent)} | told on {len(told)} | | {fmean(told):.3f} | | |"


def _row(name: str, dataset: str, pairs: Sequence[tuple[Outcome, float]]) -> str:
    told = [(said, one.score) for one, said in pairs if one.elected]
    found = scoring.calibration(told)
    score = fmean(one.score for one, _ in pairs)
    same = fmean(one.asked.same[one.best] if one.elected else 0.0 for one, _ in pairs)
    sure = fmean(said for said, _ in told)
    return (
        f"| {name} | {dataset} | {len(pairs)} | {score:.4f} | {same:.4f} | {sure:.3f} | {found.ece:.3f} "
        f"| {found.auroc:.3f} |"
    )


def _save(arrays: dict[str, NDArray[np.generic]], path: Path) -> None:
    """Write arrays as one file, the same bytes for the same arrays."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), buffer.getvalue(), zipfile.ZIP_DEFLATED, 9)


_OPENING = f"""\
## The votes on title, author and date

Each source of evidence makes claims; equal values are one candidate, and boosted trees give each candidate the
probability of being right from who says it and where, how far others agree, and what it looks like. The candidate with
the highest one is taken, unless it is below {LEAST["author"]} (author, date). Confidence is a logistic regression, on
elections by trees that had not seen the site, on that probability, on the support of similar candidates, on the best
rival, and on the sum of all; pages without an answer weigh {WITHOUT} in it.

Scores: title nearly the same, F1 of the words of the authors, day the same; "same" is equality. ECE and AUROC are of
what was told on pages that have an answer, in {FOLDS} folds by registered domain."""

_REMARKS = """\
The answers of the data are at odds with the pages in a part of the cases (years that were moved, titles that differ
from every place), which bounds what can be reached: some candidate is right on 97 % of the pages for the title, on
92 % for the author (mean F1), on 94 % for the date."""
