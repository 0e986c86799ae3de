"""Describes each block by its likeness to what the page says of itself, and to what cheap extractors would keep."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from rapidfuzz.distance import LCSseq
from resiliparse.extract.html2text import extract_plain_text
from turbohtml import Element

from actors.extraction.decide.block_arrays import BlockArrays, Columns, Floats
from actors.extraction.decide.blocks import words_in
from actors.extraction.parse.tree import Page

_TITLES = "title,meta[property='og:title'],meta[name='twitter:title']"
_DESCRIPTIONS = "meta[name='description'],meta[property='og:description'],meta[name='twitter:description']"
_DATA = "script[type='application/ld+json']"
_STATED = re.compile(r'"(?P<name>articleBody|description|text)"\s*:\s*"(?P<text>(?:[^"\\]|\\.){3,60000})')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_TAG = re.compile(r"<[^<>]{0,300}>|&[a-z]{2,6};|&#\d{1,5};")
_MAX_DATA = 400_000

_Grams = frozenset[tuple[str, ...]]

_MAX_TOKENS = 20_000
_MAX_KEPT = 12_000
"""An alignment keeps a bit for each pair of words: 30 MB at most."""

_MAX_SOURCE = 3_000_000
"""Characters of a page that are parsed a second time."""

_DEEP = "boolean(/" + "/".join(["*"] * 150) + ")"
_FLOODED = "boolean(//@*[1001])"
"""What resiliparse takes the square of: 10,000 levels take it 2 s, 100,000 attributes of an element 28 s."""

_READABLE = 10
"""Words from which a block counts for the elements around it."""


def similarity_columns(page: Page, arrays: BlockArrays) -> Columns:
    """Return how much of each block titles, descriptions and structured data repeat, a column a feature."""
    texts = _texts(page)
    title = frozenset(words_in(" ".join(texts["title"]).lower()))
    in_title = [sum(word in title for word in words) / max(len(words), 1) for words in arrays.words]
    of_title = [len(title.intersection(words)) / max(len(title), 1) for words in arrays.words]
    columns: Columns = {
        "like_title": np.array(in_title, np.float32),
        "of_title": np.array(of_title, np.float32),
    }
    for name in ("description", "body"):
        grams = _grams(texts[name])
        columns[f"like_{name}"] = _overlap(arrays, grams)
        columns[f"has_{name}"] = np.full(len(arrays.blocks), np.log1p(len(grams)), np.float32)
    return columns


def _texts(page: Page) -> dict[str, list[str]]:
    data = " ".join(script.text for script in page.root.select(_DATA))[:_MAX_DATA]
    texts: dict[str, list[str]] = {"title": [], "description": [], "body": []}
    for match in _STATED.finditer(data):
        texts["description" if match["name"] == "description" else "body"].append(_plain(match["text"]))
    for element in page.root.select(_TITLES):
        texts["title"].append(element.attr("content") or element.text)
    for element in page.root.select(_DESCRIPTIONS):
        texts["description"].append(element.attr("content") or "")
    return texts


def _plain(text: str) -> str:
    return _TAG.sub(" ", _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else " ", text))


def _grams(texts: Iterable[str]) -> _Grams:
    grams = set[tuple[str, ...]]()
    for text in texts:
        words = words_in(text.lower())[:10_000]
        grams.update(_runs(words))
    return frozenset(grams)


def _runs(words: list[str]) -> Iterable[tuple[str, ...]]:
    return zip(words, words[1:], words[2:], strict=False)


def _overlap(arrays: BlockArrays, grams: _Grams) -> Floats:
    if not grams:
        return np.zeros(len(arrays.blocks), np.float32)
    shares = list[float]()
    for words in arrays.words:
        matches = [run in grams for run in _runs(words)]
        shares.append(sum(matches) / len(matches) if matches else 0.0)
    return np.array(shares, np.float32)


def weak_label_columns(page: Page, arrays: BlockArrays) -> Columns:
    """Return what each extractor says of each block, from 0 (left out) to 1 (kept), and their neighbours' share."""
    kept = _aligned_share(arrays, _resiliparse(page))
    scored = _inside(arrays, page.root.article().element if len(page.source) <= _MAX_SOURCE else None)
    own, strength = _paragraph_scores(arrays)
    columns = {"kept_resiliparse": kept, "kept_article": scored, "kept_scored": own}
    mean = np.asarray((kept + scored + own) / len(columns), np.float32)
    edge = np.zeros(2, np.float32)
    padded = np.concatenate([edge, mean, edge])
    for step in (-2, -1, 1, 2):
        columns[f"kept@{step:+d}"] = padded[2 + step : len(mean) + 2 + step]
    columns["kept_mean"] = mean
    columns["kept_strength"] = strength
    columns["kept_around"] = np.convolve(mean, np.ones(9, np.float32) / 9, "same")[: len(mean)].astype(np.float32)
    for name in ("kept_resiliparse", "kept_article", "kept_scored"):
        share = float((columns[name] * arrays.tokens).sum() / arrays.tokens.sum())
        columns[f"{name}_share"] = np.full(len(mean), share, np.float32)
    box = arrays.box
    held = np.asarray(arrays.sums(kept * arrays.tokens) / np.maximum(arrays.sums(arrays.tokens), 1), np.float32)
    for level in range(1, 4):
        box = arrays.up[box]
        columns[f"kept_resiliparse_{level}"] = held[box]
    return columns


def _resiliparse(page: Page) -> str:
    if len(page.source) > _MAX_SOURCE or page.root.xpath_one(_DEEP) or page.root.xpath_one(_FLOODED):
        return ""
    try:
        return _plain_text(page.source)
    except TypeError:  # so it calls a text with half of a pair of UTF-16
        return _plain_text(page.source.encode("utf-8", "replace").decode())


def _plain_text(source: str) -> str:
    text: str = extract_plain_text(source, main_content=True, alt_texts=False)
    return text


def _aligned_share(arrays: BlockArrays, text: str) -> Floats:
    """Return the share of each block's first words that an alignment finds in a text."""
    kept = words_in(text.lower())[:_MAX_KEPT]
    lengths = np.array([len(words) for words in arrays.words], np.int64)
    ends = np.cumsum(lengths)
    words = [word for words in arrays.words for word in words][:_MAX_TOKENS]
    number = {word: at for at, word in enumerate(dict.fromkeys([*kept, *words]))}  # numbers are aligned faster
    aligned = LCSseq.opcodes([number[word] for word in words], [number[word] for word in kept])
    marks = np.zeros(int(ends[-1]) + 1, np.float32)
    for block in aligned.as_matching_blocks():
        marks[block.a : block.a + block.size] = 1
    running = np.concatenate([[0.0], np.cumsum(marks[:-1])])
    return np.asarray((running[ends] - running[ends - lengths]) / np.maximum(lengths, 1), np.float32)


def _inside(arrays: BlockArrays, element: Element | None) -> Floats:
    inside = np.zeros(len(arrays.box), np.float32)
    if element is not None:
        at = next((at for at, box in enumerate(arrays.boxes) if box.element == element), None)
        if at is not None:
            inside[arrays.first[at] : arrays.end[at]] = 1
    return inside


def _paragraph_scores(arrays: BlockArrays) -> tuple[Floats, Floats]:
    """Find the element whose paragraphs count most: a block counts for what holds it, half for what holds that, …."""
    linked = arrays.linked
    commas = np.array([block.text.count(",") + block.text.count("\uff0c") for block in arrays.blocks], np.float32)
    worth = np.where(arrays.tokens >= _READABLE, 1 + commas + np.minimum(arrays.tokens / 20, 3), 0)
    score = np.zeros(len(arrays.boxes))
    box = arrays.box
    for weight in (1.0, 1.0, 0.5, 0.33):
        np.add.at(score, box, worth * weight)
        box = arrays.up[box]
    words = np.maximum(arrays.sums(arrays.tokens), 1)
    score *= 1 - arrays.sums(linked * arrays.tokens) / words
    best = int(score.argmax())
    top = max(float(score[best]), 1e-6)
    inside = np.zeros(len(arrays.box), np.float32)
    inside[arrays.first[best] : arrays.end[best]] = 1
    strength = np.zeros(len(arrays.box))
    box = arrays.box
    for _ in range(6):
        strength = np.maximum(strength, score[box] / top)
        box = arrays.up[box]
    return inside, strength.astype(np.float32)
