"""Compares each block with what the page says of itself: titles, descriptions, texts of its structured data."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from actors.extraction.decide.blocks import WORD
from actors.extraction.decide.content.layout import Columns, Floats, Layout
from actors.extraction.parse.tree import Page

_TITLES = "title,meta[property='og:title'],meta[name='twitter:title']"
_DESCRIPTIONS = "meta[name='description'],meta[property='og:description'],meta[name='twitter:description']"
_DATA = "script[type='application/ld+json']"
_SAID = re.compile(r'"(?P<name>articleBody|description|text)"\s*:\s*"(?P<text>(?:[^"\\]|\\.){3,60000})')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_TAG = re.compile(r"<[^<>]{0,300}>|&[a-z]{2,6};|&#\d{1,5};")
_MAX_DATA = 400_000

Grams = frozenset[tuple[str, ...]]


def columns(page: Page, layout: Layout) -> Columns:
    """Return how much of each block is said elsewhere in the page, a column a feature."""
    texts = _texts(page)
    title = frozenset(WORD.findall(" ".join(texts["title"]).lower()))
    in_title = [sum(word in title for word in words) / max(len(words), 1) for words in layout.words]
    of_title = [len(title.intersection(words)) / max(len(title), 1) for words in layout.words]
    found: Columns = {
        "in_title": np.array(in_title, np.float32),
        "of_title": np.array(of_title, np.float32),
    }
    for name in ("description", "body"):
        grams = _grams(texts[name])
        found[f"in_{name}"] = _overlap(layout, grams)
        found[f"has_{name}"] = np.full(len(layout.blocks), np.log1p(len(grams)), np.float32)
    return found


def _texts(page: Page) -> dict[str, list[str]]:
    data = " ".join(script.text for script in page.root.select(_DATA))[:_MAX_DATA]
    found: dict[str, list[str]] = {"title": [], "description": [], "body": []}
    for match in _SAID.finditer(data):
        found["description" if match["name"] == "description" else "body"].append(_plain(match["text"]))
    for element in page.root.select(_TITLES):
        found["title"].append(element.attr("content") or element.text)
    for element in page.root.select(_DESCRIPTIONS):
        found["description"].append(element.attr("content") or "")
    return found


def _plain(text: str) -> str:
    return _TAG.sub(" ", _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else " ", text))


def _grams(texts: Iterable[str]) -> Grams:
    found = set[tuple[str, ...]]()
    for text in texts:
        words = WORD.findall(text.lower())[:10_000]
        found.update(_runs(words))
    return frozenset(found)


def _runs(words: list[str]) -> Iterable[tuple[str, ...]]:
    return zip(words, words[1:], words[2:], strict=False)


def _overlap(layout: Layout, grams: Grams) -> Floats:
    if not grams:
        return np.zeros(len(layout.blocks), np.float32)
    shares = list[float]()
    for words in layout.words:
        runs = list(_runs(words))
        shares.append(sum(run in grams for run in runs) / len(runs) if runs else 0.0)
    return np.array(shares, np.float32)
