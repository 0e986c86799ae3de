"""Turns gold pages into what a block classifier learns from: features, labels and weights of blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq
from turbohtml.detect import detect_language

from actors.extraction.decide import features, features_words, model
from actors.extraction.decide.block_arrays import BlockArrays, Floats, Ints, as_matrix
from actors.extraction.decide.blocks import Block, blocks
from actors.extraction.decide.cutoff import Groups
from actors.extraction.decide.features_words import PageWords
from actors.extraction.parse import charset, tree
from scripts.extraction_training.data import GoldPage
from scripts.extraction_training.scoring import words

_MAX_PAGE = 40_000
_MAX_GOLD = 30_000
_MOSTLY = 0.5
_MOST_WEIGHT = 80
_PAGE_WEIGHT = 100.0
_DETECTED_CHARS = 5_000

LANGUAGES = {"ell": "el", "eng": "en", "pol": "pl", "rus": "ru", "cmn": "zh"}
"""The languages that pages were gathered of, by their names in the detector."""


@dataclass(frozen=True, eq=False)
class Sample:
    """A page to learn from, the same as no other.

    `bag` holds the words of all blocks as numbers, `ends` where each block's words end in it, and `gold` how often each
    word stands in the gold text. `summary` describes the page as a whole; `first` and `end` are the blocks of each box.
    `language` is that of the gold text, in two letters where it is one of `LANGUAGES`.
    """

    name: str
    dataset: str
    type: str
    domain: str
    fold: int
    names: tuple[str, ...]
    matrix: Floats
    summary: Floats
    labels: Floats
    weights: Floats
    tokens: Floats
    groups: Groups
    spelling: PageWords
    first: Ints
    end: Ints
    bag: Ints
    ends: Ints
    gold: Ints
    language: str = ""

    def f1(self, kept: NDArray[np.bool_]) -> float:
        """Score a choice of blocks by the words that it shares with the gold text."""
        lengths = np.diff(self.ends, prepend=0)
        words = self.bag[np.repeat(kept, lengths)]
        shared = np.minimum(np.bincount(words, minlength=len(self.gold)), self.gold).sum()
        total = len(words) + self.gold.sum()
        return float(2 * shared / total) if total else 1.0


def sample(gold: GoldPage) -> Sample | None:
    """Read a page and label its blocks by its gold text; None where it has no gold text or no block."""
    if not gold.gold.get("text"):
        return None
    page = tree.read(charset.decode(gold.body())[0], gold.url)
    found = blocks(page)
    if not found:
        return None
    arrays = BlockArrays.of(found)
    columns = features.feature_columns(page, arrays)
    names = tuple(columns)
    aligned = _aligned(found, gold)
    bag, ends, amounts = _bags(found, gold)
    return Sample(
        name=gold.name,
        dataset=gold.dataset,
        type=str(gold.gold.get("type") or ""),
        domain=gold.domain(),
        fold=gold.fold(),
        names=names,
        matrix=as_matrix(columns.values()),
        summary=model.page_summary(columns, arrays.tokens, names),
        labels=(aligned >= _MOSTLY).astype(np.float32),
        weights=_weights(arrays.tokens),
        tokens=arrays.tokens,
        groups=Groups.of(arrays, columns),
        spelling=features_words.page_words(arrays),
        first=arrays.first,
        end=arrays.end,
        bag=bag,
        ends=ends,
        gold=amounts,
        language=_language(gold),
    )


def _language(gold: GoldPage) -> str:
    declared = str(gold.gold.get("lang") or "").partition("-")[0].lower()
    found = detect_language(gold.gold["text"][:_DETECTED_CHARS]).language or ""
    return declared or LANGUAGES.get(found, found)


def _weights(tokens: Floats) -> Floats:
    """Weigh blocks by their words, up to a bound, and every page alike."""
    weights = np.minimum(tokens, _MOST_WEIGHT) + 1
    return np.asarray(weights * (_PAGE_WEIGHT / weights.sum()), np.float32)


def _aligned(found: list[Block], gold: GoldPage) -> Floats:
    """Return the share of each block's words that an alignment of page and gold text finds in the gold."""
    split = [words(block.text, "") for block in found]
    lengths = np.array([len(one) for one in split], np.int64)
    ends = np.cumsum(lengths)
    of_page = [word for one in split for word in one][:_MAX_PAGE]
    of_gold = words(gold.gold["text"], "")[:_MAX_GOLD]
    marks = np.zeros(int(ends[-1]) + 1, np.float32)
    for block in LCSseq.opcodes(of_page, of_gold).as_matching_blocks():
        marks[block.a : block.a + block.size] = 1
    running = np.concatenate([[0.0], np.cumsum(marks[:-1])])
    return np.asarray((running[ends] - running[ends - lengths]) / np.maximum(lengths, 1), np.float32)


def _bags(found: list[Block], gold: GoldPage) -> tuple[Ints, Ints, Ints]:
    numbers = dict[str, int]()
    split = [words(block.text, gold.dataset) for block in found]
    bag = np.array([numbers.setdefault(word, len(numbers)) for one in split for word in one], np.int64)
    ends = np.cumsum([len(one) for one in split]).astype(np.int64)
    of_gold = [numbers.setdefault(word, len(numbers)) for word in words(gold.gold["text"], gold.dataset)]
    return bag, ends, np.bincount(np.array(of_gold, np.int64), minlength=len(numbers)).astype(np.int64)
