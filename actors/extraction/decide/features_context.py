"""Describes each block by what stands around it: ancestors, look-alikes, headings above, neighbours."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from actors.extraction.decide import block_arrays
from actors.extraction.decide.block_arrays import BlockArrays, Columns, Floats, Ints

_ANCESTOR_LEVELS = (0, 1, 2, 3, 4, 6)
_PARAGRAPH = 20
"""Words from which a block reads like a paragraph."""

_UNIT_LEVELS = 6
_NEIGHBOURS = (-2, -1, 1, 2)
_OF_NEIGHBOURS = (
    "log_tokens",
    "linked",
    "ends_sentence",
    "own_heading",
    "is_li",
    "is_p",
    "says_price",
    "share_capital",
)

_HEADING_KINDS = {
    "related": r"related|similar|recommend|you may|also (?:like|viewed|bought)|more (?:from|in|on|stories)|read next"
    r"|popular|trending|recent|latest|相关|推荐|热门",
    "comments": r"comment|repl(?:y|ies)|discussion|responses|评论|回复",
    "reviews": r"review|rating|testimonial|what (?:our|people)|customers say|q ?& ?a|questions? (?:and|&)",
    "share": r"share|follow|newsletter|subscribe|sign up|stay|join|download (?:our|the) app|social",
    "author": r"about the author|written by|author|contributor|bio\b|editor",
    "specs": r"spec|detail|feature|dimension|material|ingredient|what.s in|includes?\b|technical|size",
    "about": r"description|overview|about|introduction|summary|intro\b",
    "faq": r"faq|frequently|questions|how (?:do|to|can)|what (?:is|are)",
    "contact": r"contact|location|address|hours|get in touch|call us|support|help",
    "browse": r"categor|tags?\b|archive|menu|navigation|browse|filter|sort|search|shop by|topics|links|contents"
    r"|目录|分类",
    "notes": r"reference|footnote|notes?\b|sources?\b|see also|bibliography|external links",
    "delivery": r"shipping|delivery|returns?|warranty|payment|guarantee",
}
_HEADING_KIND = re.compile("|".join(f"(?P<{name}>{words})" for name, words in _HEADING_KINDS.items()))

_HEADING_INDEX = {name: at for at, name in enumerate(_HEADING_KINDS)}


def ancestor_columns(arrays: BlockArrays) -> Columns:
    """Return how the text of the elements around a block reads, a column a feature."""
    tokens = arrays.tokens
    linked = arrays.linked * tokens
    stops = np.array([block.text.count(". ") + block.text.count("\u3002") for block in arrays.blocks], np.float32)
    ends = np.array([block_arrays.ends_sentence(block.text) for block in arrays.blocks], np.float32)
    words = np.maximum(arrays.sums(tokens), 1)
    count = np.maximum((arrays.end - arrays.first).astype(np.float32), 1)
    about = {
        "words": words / words[0],
        "log_words": np.log1p(words),
        "links": arrays.sums(linked) / words,
        "blocks": count / count[0],
        "per_block": words / count,
        "sentences": arrays.sums(stops + ends) / count,
        "full": arrays.sums(np.where(tokens >= _PARAGRAPH, tokens * (1 - linked / tokens), 0)) / words,
    }
    columns: Columns = {}
    values = np.array(list(about.values()), np.float32)
    for level in _ANCESTOR_LEVELS:
        at = _ancestor(arrays, level)
        columns.update(zip([f"{name}_{level}" for name in about], values.take(at, axis=1), strict=True))
        columns[f"in_place_{level}"] = _within(arrays, at)
    return columns


def _ancestor(arrays: BlockArrays, level: int) -> Ints:
    """Return the box that is so many steps above each block, where each step holds more blocks than the last."""
    boxes = arrays.box
    for _ in range(level):
        boxes = arrays.up[boxes]
    return boxes


def _within(arrays: BlockArrays, box: Ints) -> Floats:
    index = np.arange(len(arrays.box))
    size = np.maximum(arrays.end[box] - arrays.first[box], 1)
    return np.asarray((index - arrays.first[box]) / size, np.float32)


def neighbour_columns(arrays: BlockArrays, own: Columns) -> Columns:
    """Return what stands beside a block, a column a feature; `own` is what the blocks are by themselves."""
    return {**_lookalike_columns(arrays, own), **_heading_columns(arrays, own), **_neighbour_values(own)}


def _lookalike_columns(arrays: BlockArrays, own: Columns) -> Columns:
    role = arrays.role[arrays.box]
    _, group, count = np.unique(role, return_inverse=True, return_counts=True)
    tokens, size = arrays.tokens, count.astype(np.float32)
    words = np.bincount(group, tokens).astype(np.float32)
    squares = np.bincount(group, tokens**2).astype(np.float32)
    order = np.argsort(group, kind="stable")
    rank = np.empty(len(group), np.float32)
    rank[order] = np.arange(len(group)) - np.repeat(np.cumsum(count) - count, count)
    mean = words / size
    return {
        "role_count": np.log1p(size)[group],
        "role_words": (words / tokens.sum())[group],
        "role_mean": np.log1p(mean)[group],
        "role_spread": np.sqrt(np.maximum(squares / size - mean**2, 0) / np.maximum(mean, 1))[group],
        "role_linked": (np.bincount(group, own["linked"]) / size)[group].astype(np.float32),
        "role_repeats": (np.bincount(group, own["repeats"]) / size)[group].astype(np.float32),
        "role_rank": rank / size[group],
        **_unit_columns(arrays, own),
    }


def _unit_columns(arrays: BlockArrays, own: Columns) -> Columns:
    """Describe the unit of a row of look-alikes that a block stands in: the card of a grid, the post of a thread."""
    row, count = arrays.rows
    alike = count[row]
    counts = np.log(alike.astype(np.float32))
    box = arrays.box
    columns: Columns = {}
    most, unit = counts[box], box
    for level in range(_UNIT_LEVELS):
        columns[f"alike_{level}"] = counts[box]
        unit = np.where(counts[box] > most, box, unit)
        most = np.maximum(most, counts[box])
        box = arrays.parent[box]
    size = arrays.sums(arrays.tokens)
    whole = np.bincount(row, size)[row].astype(np.float32)
    number = np.maximum(alike, 1)
    of_unit = {
        "unit_words": np.log1p(size),
        "unit_blocks": np.log1p(arrays.end - arrays.first).astype(np.float32),
        "units_share": whole / max(float(size[0]), 1),
        "units_mean": np.log1p(whole / number).astype(np.float32),
        "unit_linked": arrays.sums(own["linked"] * arrays.tokens) / np.maximum(size, 1),
        "unit_price": np.minimum(arrays.sums(own["says_price"]), 3),
        "unit_date": np.minimum(arrays.sums(own["says_date"]), 3),
        "unit_heads": np.minimum(arrays.sums((own["own_heading"] > 0).astype(np.float32)), 3),
    }
    columns.update({name: values[unit] for name, values in of_unit.items()})
    columns["alike_most"] = most
    columns["unit_depth"] = (arrays.depth[arrays.box] - arrays.depth[unit]).astype(np.float32)
    return columns


def _heading_columns(arrays: BlockArrays, own: Columns) -> Columns:
    levels = own["own_heading"]
    index = np.arange(len(levels))
    last = np.maximum.accumulate(np.where(levels > 0, index, -1))
    above = np.concatenate([[-1], last[:-1]])  # a heading is not its own
    before = np.concatenate([[0.0], np.cumsum(arrays.tokens)]).astype(np.float32)
    has = above >= 0
    safe = np.maximum(above, 0)
    kinds = np.zeros((len(_HEADING_KINDS), len(levels)), np.float32)
    for at in np.flatnonzero(levels > 0).tolist():
        for match in _HEADING_KIND.finditer(arrays.blocks[at].text[:80].lower()):
            kinds[_HEADING_INDEX[match.lastgroup or ""], at] = 1
    ones = np.flatnonzero(levels == 1)
    h1 = int(ones[0]) if len(ones) else -1
    columns: Columns = {
        "above_level": np.where(has, levels[safe], 0),
        "above_blocks": np.where(has, index - above, 99).astype(np.float32),
        "above_tokens": np.where(has, np.log1p(before[:-1] - before[safe]), 9).astype(np.float32),
        "from_h1": (np.clip(index - h1, -200, 200) if h1 >= 0 else np.full(len(index), 999)).astype(np.float32),
        "heads_before": np.cumsum(levels > 0).astype(np.float32),
    }
    under = np.where(has, kinds[:, safe], 0)
    for at, name in enumerate(_HEADING_KINDS):
        columns[f"under_{name}"] = under[at]
        columns[f"heads_{name}"] = kinds[at]
    columns["under_h2_known"] = _kind_above(levels, kinds, 2)
    return columns


def _kind_above(levels: Floats, kinds: Floats, most: int) -> Floats:
    """Return the kind of the last heading of the first levels, which lesser headings do not end."""
    index = np.arange(len(levels))
    last = np.maximum.accumulate(np.where((levels > 0) & (levels <= most), index, -1))
    named = np.where(kinds.any(0), kinds.argmax(0) + 1, 0)
    return np.where(last >= 0, named[np.maximum(last, 0)], -1).astype(np.float32)


def _shifted(columns: Iterable[tuple[str, Floats]]) -> Columns:
    """Return the values of the blocks before and after each block, -1 beyond the ends."""
    shifted: Columns = {}
    for name, values in columns:
        padded = np.concatenate([[-1, -1], values, [-1, -1]]).astype(np.float32)
        for step in _NEIGHBOURS:
            shifted[f"{name}@{step:+d}"] = padded[2 + step : len(padded) - 2 + step]
    return shifted


def _neighbour_values(own: Columns) -> Columns:
    return _shifted((name, own[name]) for name in _OF_NEIGHBOURS)
