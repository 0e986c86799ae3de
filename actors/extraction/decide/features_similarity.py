"""Describes each block by its likeness to what the page says of itself, and to what cheap extractors would keep."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
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

_MAX_SOURCE = 3_000_000
"""Characters of a page whose article is looked for a second time, by other means."""

_READABLE = 10
"""Words from which a block counts for the elements around it."""


def similarity_columns(page: Page, arrays: BlockArrays) -> Columns:
    """Return how much of each block titles, descriptions and structured data repeat, a column a feature."""
    texts = _texts(page)
    title = frozenset(words_in(" ".join(texts["title"]).lower()))
    in_title = [sum(map(title.__contains__, words)) / max(len(words), 1) for words in arrays.words]
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


def linked_data(page: Page) -> str:
    """Return the JSON-LD of a page as it is written."""
    return " ".join(script.text for script in page.root.select(_DATA))


def _texts(page: Page) -> dict[str, list[str]]:
    data = page.once(linked_data)[:_MAX_DATA]
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
    shares = [sum(map(grams.__contains__, _runs(words))) / max(len(words) - 2, 1) for words in arrays.words]
    return np.array(shares, np.float32)


def weak_label_columns(page: Page, arrays: BlockArrays) -> Columns:
    """Return what each extractor says of each block, from 0 (left out) to 1 (kept), and their neighbours' share."""
    article = _inside(arrays, page.root.article().element if len(page.source) <= _MAX_SOURCE else None)
    scored, strength = _paragraph_scores(arrays)
    columns = {"kept_article": article, "kept_scored": scored}
    mean = np.asarray((article + scored) / len(columns), np.float32)
    edge = np.zeros(2, np.float32)
    padded = np.concatenate([edge, mean, edge])
    for step in (-2, -1, 1, 2):
        columns[f"kept@{step:+d}"] = padded[2 + step : len(mean) + 2 + step]
    columns["kept_mean"] = mean
    columns["kept_strength"] = strength
    columns["kept_around"] = np.convolve(mean, np.ones(9, np.float32) / 9, "same")[: len(mean)].astype(np.float32)
    for name, kept in (("kept_article", article), ("kept_scored", scored)):
        share = float((kept * arrays.tokens).sum() / arrays.tokens.sum())
        columns[f"{name}_share"] = np.full(len(mean), share, np.float32)
    return columns


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
