"""Fits the model of whether a passage answers, and measures it on paragraphs that it has not seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import Any

import numpy as np

from actors.answerer.local.support import SupportModel, SupportWeights
from scripts.answer_training.data import CHINESE, ENGLISH, Example, Setting
from scripts.extraction_training import scoring

PENALTY = 5.0
ABOUT_FROM, SUPPORTED_FROM = 0.3, 0.4
"""Of questions that are asked of strange paragraphs 95 in 100 are less alike than the first."""

CUT_WEIGHT = 0.2
"""What a question counts that is asked of its paragraph without the answer, where people wrote ones that look alike."""

ROUNDS = 20
_STEPS = 30

_numpy: Any = np
"""The library as it is: its own types leave out what its arrays hold."""

Judged = list[tuple[Example, float]]


def trained(examples: Sequence[Example]) -> SupportModel:
    """Fit the models on questions of their own paragraphs, the answer among them or cut out."""
    spaced = [each for each in examples if each.dataset == ENGLISH and each.setting is not Setting.STRANGE]
    unspaced = [each for each in examples if each.dataset == CHINESE and each.setting is not Setting.STRANGE]
    return SupportModel(_fitted(spaced, CUT_WEIGHT), _fitted(unspaced, 1.0), ABOUT_FROM, SUPPORTED_FROM)


def _fitted(examples: Sequence[Example], cut_weight: float) -> SupportWeights:
    """Fit a ridge logistic regression by Newton's method."""
    rows = _numpy.array([each.evidence for each in examples])
    answers = _numpy.array([each.answers for each in examples])
    counts = _numpy.array([cut_weight if each.setting is Setting.CUT else 1.0 for each in examples])
    mean, spread = rows.mean(0), rows.std(0) + 1e-9
    table = _numpy.column_stack([_numpy.ones(len(rows)), (rows - mean) / spread])
    penalty = _numpy.diag([1e-6, *[PENALTY] * rows.shape[1]])
    weights = _numpy.zeros(table.shape[1])
    for _ in range(_STEPS):
        odds = 1 / (1 + _numpy.exp(-table @ weights))
        slope = table.T @ (counts * (odds - answers)) + penalty @ weights
        curve = (table * (counts * odds * (1 - odds))[:, None]).T @ table + penalty
        weights = weights - _numpy.linalg.solve(curve, slope)
    scaled = weights[1:] / spread
    bias, listed = float(weights[0] - scaled @ mean), [float(each) for each in scaled]
    return SupportWeights(round(bias, 4), tuple(round(each, 4) for each in listed))


def held_out(examples: Sequence[Example], rounds: int = ROUNDS) -> list[Judged]:
    """Return what models say to questions whose paragraphs they have not seen: each by that of the other half.

    The paragraphs are cut in halves anew in every round, by a seed of its own.
    """
    groups = sorted({each.group for each in examples})
    results = list[Judged]()
    for seed in range(rounds):
        order: list[int] = np.random.default_rng(seed).permutation(len(groups)).tolist()
        first = {groups[place] for place in order[: len(groups) // 2]}
        halves = [[each for each in examples if (each.group in first) == side] for side in (True, False)]
        for seen, unseen in (halves, halves[::-1]):
            model = trained(seen)
            results.append([(each, model.probability(each.question, each.evidence)) for each in unseen])
    return results


def auroc(results: Sequence[Judged], dataset: str) -> float:
    """Return how well answers are told from what only looks alike, on the mean of the halves.

    In English it looks alike because people wrote such questions, in Chinese because the answer was cut out.
    """
    return fmean(_calibration(half, dataset).auroc for half in results)


def calibration_error(results: Sequence[Judged], dataset: str) -> float:
    """Return the expected calibration error over the questions that `auroc` is about."""
    return _calibration([pair for half in results for pair in half], dataset).ece


def supported(results: Sequence[Judged], dataset: str, setting: Setting, *, answers: bool) -> float:
    """Return which share of some examples is taken for answered; NaN where there are none."""
    wanted = (dataset, setting, answers)
    taken = [
        probability >= SUPPORTED_FROM
        for half in results
        for each, probability in half
        if (each.dataset, each.setting, each.answers) == wanted
    ]
    return fmean(taken) if taken else math.nan


def _calibration(judged: Judged, dataset: str) -> scoring.Calibration:
    settings = {Setting.OWN} if dataset == ENGLISH else {Setting.OWN, Setting.CUT}
    return scoring.calibration(
        [
            (probability, float(each.answers))
            for each, probability in judged
            if each.dataset == dataset and each.setting in settings
        ]
    )
