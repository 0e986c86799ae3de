"""Evaluates what was learned of pages: how probable it is that a page is the one that was asked for, or what else."""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from actors.verifier.features import BUCKETS, Described, describe
from actors.verifier.lexicon import KINDS, HashedText, folded, phrase_book
from protocol.page import PageKind
from protocol.pages import PageClaim

MODEL = "judge.npz"
OUTPUTS = 1 + len(KINDS)
"""A healthy page first, then the kinds in the order of `PageKind`."""

TEXT_SCALE = 4.0
"""What hashed words weigh beside the other features."""

CLIP = 4.0
"""Spreads from the mean beyond which a feature counts no more."""

_MOST_ODDS = 12.0

REFUSED_BELOW = 0.4
"""A page that is less probable to be the one that was asked for is refused, unless training found a better bound."""

Weights = NDArray[np.float32]


class Assessment(Struct, frozen=True):
    """What a page is likely to be: `healthy` is calibrated (0 to 1), `kind` the likeliest of what else it may be.

    `shares` are how probable each kind is among all that else it may be, in the order of `KINDS` (none where that is
    not known). Below `refused_below` it is refused.
    """

    healthy: float
    kind: PageKind
    shares: tuple[float, ...] = ()
    refused_below: float = REFUSED_BELOW

    def share(self, kinds: Collection[PageKind]) -> float:
        """Return how probable it is that what else a page may be is one of these kinds."""
        return sum(share for kind, share in zip(KINDS, self.shares, strict=False) if kind in kinds)


class Grove(Struct, frozen=True):
    """A sum of complete binary trees, a row each: `value` holds the leaves from left to right.

    From node n of a tree the way leads to 2n + 1, or to 2n + 2 where the feature is above the threshold.
    """

    feature: NDArray[np.int64]
    threshold: Weights
    value: Weights

    def score(self, dense: Weights) -> float:
        """Return the sum of the leaves that a page comes to."""
        trees, inner = len(self.feature), len(self.feature[0])
        rows: NDArray[np.int64] = np.arange(trees, dtype=np.int64)
        node: NDArray[np.int64] = np.zeros(trees, np.int64)
        for _ in range(inner.bit_length()):
            above = np.greater(dense.take(self.feature[rows, node]), self.threshold[rows, node])
            node = np.asarray(2 * node + 1 + above, np.int64)
        return float(self.value[rows, node - inner].sum())


class JudgeModel(Struct, frozen=True):
    """Two linear models in one, and trees: the first column holds log odds of a healthy page, the others score kinds.

    The dense features are moved by `mean` and divided by `spread` for the linear ones. `calibration` holds what the log
    odds of the linear model and those of the trees count, and what is added to them.
    """

    words: Weights
    dense: Weights
    bias: Weights
    mean: Weights
    spread: Weights
    grove: Grove
    calibration: tuple[float, float, float] = (0.5, 0.5, 0.0)
    refused_below: float = REFUSED_BELOW

    def scores(self, page: Described) -> NDArray[np.float64]:
        """Return a score for each output."""
        words = page.values @ self.words[page.columns] * TEXT_SCALE
        dense = np.clip((page.dense - self.mean) / self.spread, -CLIP, CLIP) @ self.dense
        return np.asarray(words + dense + self.bias, np.float64)

    def assess(self, page: Described) -> Assessment:
        """Judge a page that was described."""
        scores, kinds = self.scores(page), KINDS
        of_words, of_trees, offset = self.calibration
        odds = of_words * scores[0] + of_trees * self.grove.score(page.dense) + offset
        healthy = 1 / (1 + np.exp(-np.clip(odds, -_MOST_ODDS, _MOST_ODDS)))
        shares = np.exp(scores[1:] - scores[1:].max())
        shares /= shares.sum()
        return Assessment(float(healthy), kinds[int(np.argmax(shares))], tuple(shares.tolist()), self.refused_below)

    def save(self) -> dict[str, NDArray[Any]]:
        """Return the weights as small arrays, for training to write."""
        scale = np.maximum(np.abs(self.words).max(0), 1e-9) / 127
        return {
            "words": np.asarray(np.round(self.words / scale), np.int8),
            "scale": scale.astype(np.float32),
            "dense": self.dense.astype(np.float16),
            "bias": self.bias,
            "mean": self.mean,
            "spread": self.spread,
            "feature": self.grove.feature.astype(np.int16),
            "threshold": self.grove.threshold,
            "value": self.grove.value,
            "calibration": np.array(self.calibration),
            "refused_below": np.array(self.refused_below),
        }

    @staticmethod
    def load(arrays: Mapping[str, NDArray[Any]]) -> JudgeModel:
        """Read what `save` returned.

        Raises:
            ValueError: The model was trained on other features.
        """
        if arrays["words"].shape != (BUCKETS, OUTPUTS):
            raise ValueError("the judge was trained on other features")
        of_words, of_trees, offset = arrays["calibration"].tolist()
        words = arrays["words"].astype(np.float32) * arrays["scale"]
        dense = arrays["dense"].astype(np.float32)
        grove = Grove(arrays["feature"].astype(np.int64), arrays["threshold"], arrays["value"])
        return JudgeModel(
            words,
            dense,
            arrays["bias"],
            arrays["mean"],
            arrays["spread"],
            grove,
            (of_words, of_trees, offset),
            float(arrays["refused_below"]),
        )


@cache
def judge_model() -> JudgeModel:
    """Return the model that is shipped.

    Raises:
        ValueError: It was trained on other features.
    """
    source = files("actors.verifier").joinpath("package_data", MODEL).read_bytes()
    with np.load(io.BytesIO(source), allow_pickle=False) as arrays:
        return JudgeModel.load({name: arrays[name] for name in arrays.files})


def warm() -> None:
    """Load the phrases and the weights, so that the first page does not pay for them."""
    phrase_book()
    judge_model()


def assess(claim: PageClaim) -> Assessment:
    """Judge what a page shows, whatever its status."""
    return judge_model().assess(describe(claim))


def speaks_of(claim: PageClaim, *kinds: PageKind) -> bool:
    """Return whether a page shows a phrase of one of these kinds."""
    return phrases_of(claim.evidence.visible, *kinds) > 0


def phrases_in(text: str) -> tuple[int, float]:
    """Return how many phrases of any kind stand in a text, and the share of it that they make."""
    counts, share = phrase_book().counts(HashedText.of(folded(text)))
    return int(counts.sum()), float(share.sum())


def phrases_of(text: str, *kinds: PageKind) -> int:
    """Count the phrases of these kinds in a text."""
    counts, _ = phrase_book().counts(HashedText.of(folded(text)))
    return int(sum(counts[KINDS.index(kind)] for kind in kinds))
