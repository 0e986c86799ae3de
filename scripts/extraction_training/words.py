"""Learns from gold pages which words in names and short texts stand for content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np

from actors.extraction.decide.block_arrays import Floats, as_list, as_matrix
from actors.extraction.decide.features_words import MAX_SHORT_WORDS, Lexicon
from scripts.extraction_training.samples import Sample

PARTS = 4
"""A page that is learned from gets the words of the other three quarters of the sites: its own say too much of it."""

_SITES = 4
"""Sites on which a word must stand to be learned."""

_PRIOR = 3.0
"""So many sites on which a word says nothing are added."""

_FULL_WORDS = 100.0
_MOST_WORDS = 80
_WEAK = 0.02

Sums = dict[str, list[float]]


def learn(samples: Sequence[Sample]) -> Lexicon:
    """Return the mean, over sites, of how far the share of content under a word lies above that of its page."""
    names: Sums = {}
    texts: Sums = {}
    sites: dict[str, list[Sample]] = {}
    for one in samples:
        sites.setdefault(one.domain, []).append(one)
    for _, inside in sorted(sites.items()):
        _add(names, map(_names, inside))
        _add(texts, map(_texts, inside))
    return Lexicon(_weights(names), _weights(texts)).rounded()


def crosswise(samples: Sequence[Sample]) -> dict[str, Floats]:
    """Return the columns of each page by words that were learned without its site."""
    found: dict[str, Floats] = {}
    for number in range(PARTS):
        lexicon = learn([one for one in samples if part(one) != number])
        found |= {one.name: matrix(one, lexicon) for one in samples if part(one) == number}
    return found


def matrix(one: Sample, lexicon: Lexicon) -> Floats:
    """Return the columns of a page by a lexicon."""
    return as_matrix(lexicon.columns(one.spelling).values())


def column_names(samples: Sequence[Sample]) -> tuple[str, ...]:
    """Return the names of those columns."""
    return tuple(Lexicon({}, {}).columns(samples[0].spelling))


def part(one: Sample) -> int:
    """Return the part that a page's site belongs to."""
    return hashlib.sha256(f"words {one.domain}".encode()).digest()[0] % PARTS


@cache
def _names(one: Sample) -> Sums:
    """Sum up, for each word, how far the content under its elements lies above the page's, and how much is there."""
    size = np.minimum(one.tokens, _MOST_WORDS).astype(np.float64)
    share = float((size * one.labels).sum() / size.sum())
    running = np.concatenate([[0.0], np.cumsum(size)])
    good = np.concatenate([[0.0], np.cumsum(size * one.labels)])
    words = (running[one.end] - running[one.first]).tolist()
    content = (good[one.end] - good[one.first]).tolist()
    found: Sums = {}
    for number, count, right in zip(as_list(one.spelling.number), words, content, strict=True):
        weight = min(count, 2 * _FULL_WORDS) / (2 * _FULL_WORDS)
        for part in one.spelling.of_names[number]:
            sums = found.setdefault(part, [0.0, 0.0])
            sums[0] += (right / count - share) * weight
            sums[1] += weight
    return found


@cache
def _texts(one: Sample) -> Sums:
    size = np.minimum(one.tokens, _MOST_WORDS).astype(np.float64)
    share = float((size * one.labels).sum() / size.sum())
    found: Sums = {}
    for parts, label in zip(one.spelling.of_blocks, one.labels.tolist(), strict=True):
        for part in dict.fromkeys(parts[:MAX_SHORT_WORDS]):
            sums = found.setdefault(part, [0.0, 0.0])
            sums[0] += label - share
            sums[1] += 1
    return found


def _add(total: Sums, pages: Iterable[Sums]) -> None:
    """Add what a site says of each word: its mean, counted once however many pages it has."""
    site: Sums = {}
    for page in pages:
        for word, (value, weight) in page.items():
            sums = site.setdefault(word, [0.0, 0.0])
            sums[0] += value
            sums[1] += weight
    for word, (value, weight) in site.items():
        sums = total.setdefault(word, [0.0, 0.0])
        counts = min(2 * weight, 1.0)
        sums[0] += value / weight * counts
        sums[1] += counts


def _weights(total: Sums) -> dict[str, float]:
    found = {word: value / (sites + _PRIOR) for word, (value, sites) in sorted(total.items()) if sites >= _SITES}
    return {word: weight for word, weight in found.items() if abs(weight) >= _WEAK}
