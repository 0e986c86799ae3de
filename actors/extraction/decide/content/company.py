"""Describes each block by those beside it: look-alikes, headings above, neighbours."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from actors.extraction.decide.content.layout import Columns, Floats, Ints, Layout

_LEVELS = 6
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

HEADS = {
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
_HEADS = re.compile("|".join(f"(?P<{name}>{words})" for name, words in HEADS.items()))


def columns(layout: Layout, own: Columns) -> Columns:
    """Return what stands beside a block, a column a feature; `own` is what the blocks are by themselves."""
    return {**_alike(layout, own), **_headings(layout, own), **_neighbours(own)}


def siblings(layout: Layout) -> Ints:
    """Count the boxes of each box's role under its parent, itself among them."""
    _, inverse, counts = np.unique(_rows(layout), return_inverse=True, return_counts=True)
    return counts[inverse].astype(np.int64)


def _rows(layout: Layout) -> Ints:
    """Return a number for each row of look-alikes: boxes of one role with one parent."""
    return layout.role * len(layout.boxes) + layout.parent


def _alike(layout: Layout, own: Columns) -> Columns:
    role = layout.role[layout.box]
    _, group, count = np.unique(role, return_inverse=True, return_counts=True)
    tokens, size = layout.tokens, count.astype(np.float32)
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
        **_repeated(layout, own),
    }


def _repeated(layout: Layout, own: Columns) -> Columns:
    """Describe the unit of a row of look-alikes that a block stands in: the card of a grid, the post of a thread."""
    alike = siblings(layout)
    counts = np.log(alike.astype(np.float32))
    box = layout.box
    found: Columns = {}
    most, unit = counts[box], box
    for level in range(_LEVELS):
        found[f"alike_{level}"] = counts[box]
        unit = np.where(counts[box] > most, box, unit)
        most = np.maximum(most, counts[box])
        box = layout.parent[box]
    size = layout.sums(layout.tokens)
    _, group = np.unique(_rows(layout), return_inverse=True)
    whole = np.bincount(group, size)[group].astype(np.float32)
    number = np.maximum(alike, 1)
    of_unit = {
        "unit_words": np.log1p(size),
        "unit_blocks": np.log1p(layout.end - layout.first).astype(np.float32),
        "units_share": whole / max(float(size[0]), 1),
        "units_mean": np.log1p(whole / number).astype(np.float32),
        "unit_linked": layout.sums(own["linked"] * layout.tokens) / np.maximum(size, 1),
        "unit_price": np.minimum(layout.sums(own["says_price"]), 3),
        "unit_date": np.minimum(layout.sums(own["says_date"]), 3),
        "unit_heads": np.minimum(layout.sums((own["own_heading"] > 0).astype(np.float32)), 3),
    }
    found.update({name: values[unit] for name, values in of_unit.items()})
    found["alike_most"] = most
    found["unit_depth"] = (layout.depth[layout.box] - layout.depth[unit]).astype(np.float32)
    return found


def _headings(layout: Layout, own: Columns) -> Columns:
    levels = own["own_heading"]
    index = np.arange(len(levels))
    last = np.maximum.accumulate(np.where(levels > 0, index, -1))
    above = np.concatenate([[-1], last[:-1]])  # a heading is not its own
    before = np.concatenate([[0.0], np.cumsum(layout.tokens)]).astype(np.float32)
    has = above >= 0
    safe = np.maximum(above, 0)
    kinds = np.zeros((len(levels), len(HEADS)), np.float32)
    for at in np.flatnonzero(levels > 0).tolist():
        for match in _HEADS.finditer(layout.blocks[at].text[:80].lower()):
            kinds[at, _HEAD_AT[match.lastgroup or ""]] = 1
    ones = np.flatnonzero(levels == 1)
    h1 = int(ones[0]) if len(ones) else -1
    found: Columns = {
        "above_level": np.where(has, levels[safe], 0),
        "above_blocks": np.where(has, index - above, 99).astype(np.float32),
        "above_tokens": np.where(has, np.log1p(before[:-1] - before[safe]), 9).astype(np.float32),
        "from_h1": (np.clip(index - h1, -200, 200) if h1 >= 0 else np.full(len(index), 999)).astype(np.float32),
        "heads_before": np.cumsum(levels > 0).astype(np.float32),
    }
    for at, name in enumerate(HEADS):
        found[f"under_{name}"] = np.where(has, kinds[safe, at], 0)
        found[f"heads_{name}"] = kinds[:, at]
    found["under_h2_known"] = _under(levels, kinds, 2)
    return found


def _under(levels: Floats, kinds: Floats, most: int) -> Floats:
    """Return the kind of the last heading of the first levels, which lesser headings do not end."""
    index = np.arange(len(levels))
    last = np.maximum.accumulate(np.where((levels > 0) & (levels <= most), index, -1))
    named = np.where(kinds.any(1), kinds.argmax(1) + 1, 0)
    return np.where(last >= 0, named[np.maximum(last, 0)], -1).astype(np.float32)


def neighbours(columns: Iterable[tuple[str, Floats]]) -> Columns:
    """Return the values of the blocks before and after each block, -1 beyond the ends."""
    found: Columns = {}
    for name, values in columns:
        padded = np.concatenate([[-1, -1], values, [-1, -1]]).astype(np.float32)
        for step in _NEIGHBOURS:
            found[f"{name}@{step:+d}"] = padded[2 + step : len(padded) - 2 + step]
    return found


def _neighbours(own: Columns) -> Columns:
    return neighbours((name, own[name]) for name in _OF_NEIGHBOURS)


_HEAD_AT = {name: at for at, name in enumerate(HEADS)}
