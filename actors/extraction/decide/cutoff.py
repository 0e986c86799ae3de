"""Turns the scores of blocks into a choice: smoothed by role, cut at the best expected F1, with its confidence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from actors.extraction.decide.block_arrays import BlockArrays, Columns, Floats, Ints
from actors.extraction.decide.comments import comment_evidence
from actors.extraction.decide.consent import consent_banners
from actors.extraction.decide.model import TRAINED_TYPES, Scores, Trees, probability
from protocol.page import PageType

SMOOTHING = 0.5
"""The weight of a role's mean score beside a block's own (cross-validated)."""

_MIN_BLOCKS_OF_ROLE = 3
"""Blocks of one role from which they are taken together."""

_LIKELY_PRODUCT = 0.3
_PENALTY = 1.6
"""Reviews read like articles, but on a page that sells something they are mostly no content; nor is "Blue (12)"."""

_MAX_FACET_WORDS = 8

_FLATTENING = 1.0
"""By how much more than 1 the scores of a collection or listing are divided: with few such pages to learn from, they
are surer than they are right (cross-validated)."""

_ARTICLE_DOUBT = 0.4
"""What is taken from every score of an article: what stands around its text is less often content than scores say
(cross-validated)."""

_FACTS = 1.8
"""What is added to every score of a table of facts: its cells are seldom like content, but the table belongs to what
it is about. Not in forums, collections and listings, where such tables hold what posts and goods have in common
(cross-validated)."""

_BANNER = 4.0
"""What is taken from every score of a banner that asks for consent: one in fifty of them is content."""

_BEFORE_TITLE = 1.0
_SAYS_TITLE, _OF_TITLE, _TITLE_LINKED, _TITLE_WORDS = 0.8, 0.4, 0.5, 2
"""What is taken from every score above the first text that is the title: so much of its words are in the page's title,
so much of the title is said by it, and no more of it is linked (cross-validated)."""

_WEAK_LABELS = ("kept_article", "kept_scored")
_UNSURE_RANGE = (0.2, 0.8)
_FEW_WORDS = 20.0
_FADING = 1.5
"""Content of so many words or more may be all that a page has to say; with fewer, confidence fades to none: to two
thirds at 15, to a third at 10, to a twentieth at 3, which is what pages say that wait for a script."""


class Groups(Struct, frozen=True):
    """Which blocks belong together: the `role` of each, the blocks of each short list and table of facts, comments.

    `comments` is what speaks for each block being one, 0 for nothing; `banners` tells which ask for consent.
    """

    role: Ints
    lists: Sequence[slice]
    facts: Sequence[slice]
    comments: Floats
    banners: NDArray[np.bool_]

    @staticmethod
    def of(arrays: BlockArrays, columns: Columns) -> Groups:
        """Return what belongs together among the blocks of a page; `columns` is what they are by themselves."""
        comments = comment_evidence(arrays, columns)
        return Groups(arrays.role[arrays.box], arrays.lists, arrays.facts, comments, consent_banners(arrays))


def adjusted_scores(scores: Scores, groups: Groups, columns: Columns, tokens: Floats, types: Scores) -> Scores:
    """Return the scores after smoothing, the rules, and what holds for the type of the page."""
    adjusted = _smoothed(scores, groups.role, tokens)
    reviews = (columns["in_review"] > 0) | (columns["under_reviews"] > 0)
    likely: dict[PageType, float] = dict(zip(TRAINED_TYPES, types.tolist(), strict=True))
    if likely[PageType.PRODUCT] > _LIKELY_PRODUCT:
        adjusted = adjusted - _PENALTY * reviews
    adjusted = adjusted - _PENALTY * ((columns["says_facet"] > 0) & (tokens < _MAX_FACET_WORDS))
    adjusted = adjusted - groups.comments * max(likely[PageType.ARTICLE] - likely[PageType.FORUM], 0.0)
    adjusted = adjusted - _BANNER * groups.banners
    adjusted = adjusted - _BEFORE_TITLE * _before_title(columns, tokens)
    flattening = 1 + _FLATTENING * (likely[PageType.COLLECTION] + likely[PageType.LISTING])
    flattened: Scores = adjusted / flattening - _ARTICLE_DOUBT * likely[PageType.ARTICLE]
    return _joined(flattened, groups, tokens, likely)


def _before_title(columns: Columns, tokens: Floats) -> NDArray[np.bool_]:
    """Return which blocks stand above the title, where one of them is it."""
    text = (columns["like_title"] >= _SAYS_TITLE) & (columns["of_title"] >= _OF_TITLE)
    title = text & (columns["linked"] < _TITLE_LINKED) & (tokens >= _TITLE_WORDS)
    return np.arange(len(title)) < int(title.argmax())  # none of them is 0


def _smoothed(scores: Scores, role: Ints, tokens: Floats) -> Scores:
    """Draw the scores of blocks of one role together: a list is content or is not, rarely every other item of it."""
    _, group, count = np.unique(role, return_inverse=True, return_counts=True)
    weight = np.minimum(tokens, 80).astype(np.float64)
    mean = np.bincount(group, scores * weight) / np.bincount(group, weight)
    share = np.where(count >= _MIN_BLOCKS_OF_ROLE, SMOOTHING, 0.0)[group]
    return (1 - share) * scores + share * mean[group]


def _joined(scores: Scores, groups: Groups, tokens: Floats, likely: Mapping[PageType, float]) -> Scores:
    """Return one score for all of a short list, and of a table of facts: it is content as a whole or not at all."""
    more = _FACTS * max(0.0, 1 - likely[PageType.FORUM] - likely[PageType.COLLECTION] - likely[PageType.LISTING])
    joined = scores.copy()
    for items in groups.lists:
        joined[items] = _mean(joined[items], tokens[items])
    for cells in groups.facts:
        joined[cells] = _mean(joined[cells], tokens[cells]) + more
    return joined


def _mean(scores: Scores, tokens: Floats) -> float:
    weight = np.sqrt(tokens)
    return float((scores * weight).sum() / weight.sum())


class Cutoff(Struct, frozen=True):
    """Which blocks are kept, and the F1, precision and recall of their words that is to be expected."""

    kept: NDArray[np.bool_]
    f1: float
    precision: float
    recall: float


def best_cutoff(probabilities: Scores, tokens: Floats) -> Cutoff:
    """Keep the likeliest blocks, as many of them as give the best expected F1."""
    order = np.argsort(-probabilities, kind="stable")
    size = tokens.astype(np.float64)
    words = np.cumsum(size[order])
    good = np.cumsum((probabilities * size)[order])
    whole = max(float(good[-1]), 1e-9)
    expected = 2 * good / (words + whole)
    best = int(expected.argmax())
    kept = probabilities >= probabilities[order[best]]
    right = float((probabilities * size)[kept].sum())
    return Cutoff(kept, float(expected[best]), right / float(size[kept].sum()), right / whole)


def cutoff_evidence(
    cut: Cutoff, probabilities: Scores, columns: Columns, tokens: Floats, types: Scores
) -> dict[str, float]:
    """Describe a cut in numbers."""
    words = tokens.astype(np.float64)
    total = float(words.sum())
    kept = float(words[cut.kept].sum())
    sure = np.clip(probabilities, 1e-6, 1 - 1e-6)
    doubt = -(sure * np.log(sure) + (1 - sure) * np.log(1 - sure))
    facts = {
        "f1": cut.f1,
        "precision": cut.precision,
        "recall": cut.recall,
        "kept": float(np.log1p(kept)),
        "kept_share": kept / total,
        "unsure": float(words[(probabilities > _UNSURE_RANGE[0]) & (probabilities < _UNSURE_RANGE[1])].sum()) / total,
        "doubt": float((doubt * words).sum()) / total,
        "doubt_kept": float((doubt * words)[cut.kept].sum()) / max(kept, 1),
        "runs": float(np.count_nonzero(np.diff(cut.kept.astype(np.int8)) == 1)),
        "blocks": float(np.log1p(len(tokens))),
        "longest": float(np.log1p(words[cut.kept].max(initial=0))),
    }
    for name in _WEAK_LABELS:
        facts[f"like_{name}"] = _agreement(cut.kept * words, columns[name] * words)
    facts.update({f"type_{kind}": float(value) for kind, value in zip(TRAINED_TYPES, types, strict=True)})
    return facts


def expected_f1(trees: Trees, facts: dict[str, float]) -> float:
    """Return the F1 that pages with such evidence had."""
    row: Floats = np.array([[facts[name] for name in trees.names]], np.float32)
    return faded(float(probability(trees.scores(row))[0, 0]), facts)


def faded(sure: float, facts: dict[str, float]) -> float:
    """Return less where hardly a word was kept: no text, no confidence."""
    return sure * math.pow(min(math.expm1(facts["kept"]) / _FEW_WORDS, 1.0), _FADING)


def _agreement(kept: Scores, theirs: Scores) -> float:
    return float(2 * np.minimum(kept, theirs).sum() / max(float(kept.sum() + theirs.sum()), 1.0))
