"""Describes each block by its own text and place."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from actors.extraction.decide.content import shape
from actors.extraction.decide.content.layout import Columns, Floats, Layout, listed

_SHOWN = 320
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
TAGS = ("p", "li", "td", "th", "dt", "dd", "div", "span", "a", "button", "label", "figcaption", "blockquote", "pre")
"""Innermost elements that are told apart, beside headings."""

_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_SAID = re.compile(
    r"(?P<price>[$€£¥₹]\s?\d|\d\s?(?:€|£|usd|eur|kr\b|zł))"
    rf"|(?P<date>\b(?:19|20)\d\d[-/.年]\d\d?[-/.月]\d\d?|\b(?:{_MONTHS})[a-z]*\.?\s\d\d?\b"
    r"|\b\d\d?:\d\d\b|\b\d+\s(?:min|hour|day|week|month|year)s?\sago\b)"
    r"|(?P<facet>\(\d[\d,.]{0,7}\)$)",
    re.MULTILINE,
)
SAID = ("price", "date", "facet")
"""What phrases of a block tell of it, each at most once."""

_BEGINNING = 160
"""Characters of a block that are read for phrases."""


def columns(layout: Layout) -> Columns:
    """Return what can be said of a block by itself, a column a feature."""
    return {**_text(layout), **_phrases(layout), **_place(layout), **_tags(layout)}


def _text(layout: Layout) -> Columns:
    texts = [block.text[:_SHOWN] for block in layout.blocks]
    counts = shape.counts(texts)
    chars = np.maximum(counts.sum(1), 1)
    tokens = layout.tokens
    first = [text[0] for text in texts]
    last = [block.text[-1] for block in layout.blocks]
    shares = {f"share_{kind}": counts[:, at] / chars for at, kind in enumerate(shape.KINDS)}
    return {
        **shares,
        "tokens": tokens,
        "log_tokens": np.log1p(tokens),
        "word_length": (counts[:, 0] + counts[:, 1]) / np.minimum(tokens, 60),
        "commas": counts[:, shape.KINDS.index("comma")],
        "stops": counts[:, shape.KINDS.index("stop")],
        "linked": layout.linked,
        "collapsed": flags([block.collapsed for block in layout.blocks]),
        "ends_sentence": flags([char in shape.STOPS for char in last]),
        "ends_colon": flags([char in ":\uff1a" for char in last]),
        "starts_capital": flags([char.isupper() for char in first]),
        "starts_lower": flags([char.islower() for char in first]),
        "starts_digit": flags([char.isdigit() for char in first]),
        "runs": np.array([len(block.nodes) for block in layout.blocks], np.float32),
    }


def _phrases(layout: Layout) -> Columns:
    texts = [block.text[:_BEGINNING].lower() for block in layout.blocks]
    starts = np.concatenate([[0], np.cumsum([len(text) + 1 for text in texts])])
    found = np.zeros((len(SAID), len(texts)), np.float32)
    matches = [(SAID.index(match.lastgroup or ""), match.start()) for match in _SAID.finditer("\n".join(texts))]
    if matches:
        kinds, places = np.array(matches).T
        found[kinds, np.searchsorted(starts, places, "right") - 1] = 1
    return {f"says_{kind}": found[at] for at, kind in enumerate(SAID)}


def _place(layout: Layout) -> Columns:
    count = len(layout.blocks)
    tokens = layout.tokens
    index = np.arange(count, dtype=np.float32)
    before = np.concatenate([[0], np.cumsum(tokens)[:-1]]).astype(np.float32)
    texts = [block.text for block in layout.blocks]
    repeats = Counter(texts)
    return {
        "index": np.minimum(index, 500),
        "from_end": np.minimum(count - index, 500),
        "place": index / count,
        "token_place": before / tokens.sum(),
        "tokens_before": np.log1p(before),
        "repeats": np.array([min(repeats[text], 20) for text in texts], np.float32),
        "depth": layout.depth[layout.box].astype(np.float32),
    }


def _tags(layout: Layout) -> Columns:
    tags = [layout.boxes[at].tag for at in listed(layout.box)]
    level = {tag: float(at + 1) for at, tag in enumerate(_HEADINGS)}
    found: Columns = {f"is_{tag}": flags([one == tag for one in tags]) for tag in TAGS}
    found["own_heading"] = np.array([level.get(tag, 0.0) for tag in tags], np.float32)
    return found


def flags(values: list[bool]) -> Floats:
    """Return 1 for what is true, 0 for the rest."""
    truths: NDArray[np.bool_] = np.array(values, np.bool_)
    return truths.astype(np.float32)
