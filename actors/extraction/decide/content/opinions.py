"""Says which blocks cheap extractors would keep: their votes are evidence for ours."""

from __future__ import annotations

import numpy as np
from rapidfuzz.distance import LCSseq
from resiliparse.extract.html2text import extract_plain_text
from turbohtml import Element

from actors.extraction.decide.blocks import WORD
from actors.extraction.decide.content.layout import Columns, Floats, Layout
from actors.extraction.parse.tree import Page

_MAX_TOKENS = 20_000
_MAX_KEPT = 12_000
"""An alignment keeps a bit for each pair of words: 30 MB at most."""

_MAX_SOURCE = 3_000_000
"""Characters of a page that are parsed a second time."""

_DEEP = "boolean(/" + "/".join(["*"] * 150) + ")"
_FLOODED = "boolean(//*[count(@*) > 1000])"
"""What resiliparse takes the square of: 10,000 levels take it 2 s, 100,000 attributes of an element 28 s."""

_READABLE = 10
"""Words from which a block counts for the elements around it."""


def columns(page: Page, layout: Layout) -> Columns:
    """Return what each extractor says of each block, from 0 (left out) to 1 (kept), and their neighbours' share."""
    kept = _aligned(layout, _resiliparse(page))
    scored = _within(layout, page.root.article().element if len(page.source) <= _MAX_SOURCE else None)
    own, strength = _scored(layout)
    found = {"kept_resiliparse": kept, "kept_article": scored, "kept_scored": own}
    mean = np.asarray((kept + scored + own) / len(found), np.float32)
    padded = np.pad(mean, 2)
    for step in (-2, -1, 1, 2):
        found[f"kept@{step:+d}"] = padded[2 + step : len(mean) + 2 + step]
    found["kept_mean"] = mean
    found["kept_strength"] = strength
    found["kept_around"] = np.convolve(mean, np.ones(9, np.float32) / 9, "same")[: len(mean)].astype(np.float32)
    for name in ("kept_resiliparse", "kept_article", "kept_scored"):
        share = float((found[name] * layout.tokens).sum() / layout.tokens.sum())
        found[f"{name}_share"] = np.full(len(mean), share, np.float32)
    box = layout.box
    held = np.asarray(layout.sums(kept * layout.tokens) / np.maximum(layout.sums(layout.tokens), 1), np.float32)
    for level in range(1, 4):
        box = layout.up[box]
        found[f"kept_resiliparse_{level}"] = held[box]
    return found


def _resiliparse(page: Page) -> str:
    if len(page.source) > _MAX_SOURCE or page.root.xpath_one(_DEEP) or page.root.xpath_one(_FLOODED):
        return ""
    source = page.source if page.source.isascii() else page.source.encode("utf-8", "replace").decode()
    text: str = extract_plain_text(source, main_content=True, alt_texts=False)
    return text


def _aligned(layout: Layout, text: str) -> Floats:
    """Return the share of each block's first words that an alignment finds in a text."""
    kept = WORD.findall(text.lower())[:_MAX_KEPT]
    lengths = np.array([len(words) for words in layout.words], np.int64)
    ends = np.cumsum(lengths)
    words = [word for words in layout.words for word in words][:_MAX_TOKENS]
    marks = np.zeros(int(ends[-1]) + 1, np.float32)
    for block in LCSseq.opcodes(words, kept).as_matching_blocks():
        marks[block.a : block.a + block.size] = 1
    running = np.concatenate([[0.0], np.cumsum(marks[:-1])])
    return np.asarray((running[ends] - running[ends - lengths]) / np.maximum(lengths, 1), np.float32)


def _within(layout: Layout, element: Element | None) -> Floats:
    found = np.zeros(len(layout.box), np.float32)
    if element is not None:
        at = next((at for at, box in enumerate(layout.boxes) if box.element == element), None)
        if at is not None:
            found[layout.first[at] : layout.end[at]] = 1
    return found


def _scored(layout: Layout) -> tuple[Floats, Floats]:
    """Find the element whose paragraphs count most: a block counts for what holds it, half for what holds that, …."""
    linked = layout.linked
    commas = np.array([block.text.count(",") + block.text.count("\uff0c") for block in layout.blocks], np.float32)
    worth = np.where(layout.tokens >= _READABLE, 1 + commas + np.minimum(layout.tokens / 20, 3), 0)
    score = np.zeros(len(layout.boxes))
    box = layout.box
    for weight in (1.0, 1.0, 0.5, 0.33):
        np.add.at(score, box, worth * weight)
        box = layout.up[box]
    words = np.maximum(layout.sums(layout.tokens), 1)
    score *= 1 - layout.sums(linked * layout.tokens) / words
    best = int(score.argmax())
    top = max(float(score[best]), 1e-6)
    inside = np.zeros(len(layout.box), np.float32)
    inside[layout.first[best] : layout.end[best]] = 1
    strength = np.zeros(len(layout.box))
    box = layout.box
    for _ in range(6):
        strength = np.maximum(strength, score[box] / top)
        box = layout.up[box]
    return inside, strength.astype(np.float32)
