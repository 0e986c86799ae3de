"""Says how good a choice of blocks is likely to be: its F1 to be expected, corrected by what pages have shown."""

from __future__ import annotations

import math

import numpy as np

from actors.extraction.decide.content import page_type
from actors.extraction.decide.content.cut import Cut
from actors.extraction.decide.content.layout import Columns, Floats
from actors.extraction.decide.content.trees import Scores, Trees, probability

_OPINIONS = ("kept_resiliparse", "kept_article", "kept_scored")
_UNSURE = (0.2, 0.8)
_FEW_WORDS = 25.0
"""Content of so many words or more may be all that a page has to say; with fewer, confidence fades to none."""


def evidence(cut: Cut, probabilities: Scores, columns: Columns, tokens: Floats, types: Scores) -> dict[str, float]:
    """Describe a cut in numbers."""
    words = tokens.astype(np.float64)
    total = float(words.sum())
    kept = float(words[cut.kept].sum())
    sure = np.clip(probabilities, 1e-6, 1 - 1e-6)
    doubt = -(sure * np.log(sure) + (1 - sure) * np.log(1 - sure))
    found = {
        "f1": cut.f1,
        "precision": cut.precision,
        "recall": cut.recall,
        "kept": float(np.log1p(kept)),
        "kept_share": kept / total,
        "unsure": float(words[(probabilities > _UNSURE[0]) & (probabilities < _UNSURE[1])].sum()) / total,
        "doubt": float((doubt * words).sum()) / total,
        "doubt_kept": float((doubt * words)[cut.kept].sum()) / max(kept, 1),
        "runs": float(np.count_nonzero(np.diff(cut.kept.astype(np.int8)) == 1)),
        "blocks": float(np.log1p(len(tokens))),
        "longest": float(np.log1p(words[cut.kept].max(initial=0))),
    }
    for name in _OPINIONS:
        found[f"like_{name}"] = _agreement(cut.kept * words, columns[name] * words)
    found.update({f"type_{kind}": float(value) for kind, value in zip(page_type.TRAINED, types, strict=True)})
    return found


def expected(trees: Trees, found: dict[str, float]) -> float:
    """Return the F1 that pages with such evidence had."""
    row: Floats = np.array([[found[name] for name in trees.names]], np.float32)
    return faded(float(probability(trees.scores(row))[0, 0]), found)


def faded(sure: float, found: dict[str, float]) -> float:
    """Return less where hardly a word was kept: no text, no confidence."""
    return sure * min(math.expm1(found["kept"]) / _FEW_WORDS, 1.0) ** 2


def _agreement(kept: Scores, theirs: Scores) -> float:
    return float(2 * np.minimum(kept, theirs).sum() / max(float(kept.sum() + theirs.sum()), 1.0))
