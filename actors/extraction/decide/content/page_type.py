"""Tells what a page is for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

import numpy as np

from actors.extraction.decide.content.layout import Columns, Floats
from actors.extraction.decide.content.trees import Scores, Trees
from protocol.page import PageType

TRAINED = (
    PageType.ARTICLE,
    PageType.DOCUMENTATION,
    PageType.SERVICE,
    PageType.FORUM,
    PageType.PRODUCT,
    PageType.COLLECTION,
    PageType.LISTING,
)
"""The types that gold pages have; the other two show in the address."""

_BY_ADDRESS = 0.7
"""What the address alone says of home pages and searches."""  # a judgement: no gold page has these types

_ASKED = frozenset({"q", "query", "search", "s", "keyword", "keywords", "k"})
_SEARCH = re.compile(r"(?:^|/)(?:search|suche|recherche|buscar|results)(?:[/.]|$)")


def probabilities(trees: Trees, known: Columns, tokens: Floats) -> Scores:
    """Return the probability of each of the trained types."""
    return softmax(trees.scores(summary(known, tokens, trees.names)[None, :])[0])


def columns(types: Scores, count: int) -> Columns:
    """Return the probabilities as features of every block: what is content depends on what the page is for."""
    return {
        f"page_is_{kind}": np.full(count, value, np.float32)
        for kind, value in zip(TRAINED, types.tolist(), strict=True)
    }


def softmax(scores: Scores) -> Scores:
    """Turn the scores of all types into probabilities."""
    powers = np.exp(scores - scores.max())
    return np.asarray(powers / powers.sum(), np.float64)


def summary(known: Columns, tokens: Floats, names: tuple[str, ...]) -> Floats:
    """Describe a page by the means of what describes its blocks, each weighed by its words."""
    stacked = np.stack([known[name] for name in names], dtype=np.float32, casting="same_kind")
    return np.asarray((stacked * (tokens / tokens.sum())).sum(1), np.float32)


def by_name(trained: Scores, url: str) -> Mapping[PageType, float]:
    """Name the probabilities, with those that the address speaks for."""
    shown = _of_address(url)
    rest = 1 - (_BY_ADDRESS if shown is not None else 0)
    found = {kind: float(value) * rest for kind, value in zip(TRAINED, trained.tolist(), strict=True)}
    if shown is not None:
        found[shown] = _BY_ADDRESS
    return found


def _of_address(url: str) -> PageType | None:
    try:
        parts = urlsplit(url)
        asked = {name.lower() for name, value in parse_qsl(parts.query, max_num_fields=100) if value}
    except ValueError:
        return None
    if not parts.path.strip("/") and not parts.query:
        return PageType.HOME
    return PageType.SEARCH if _SEARCH.search(parts.path.lower()) and asked & _ASKED else None
