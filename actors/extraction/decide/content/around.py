"""Describes each block by the elements around it: their names, and how their text reads."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

from actors.extraction.decide.content import shape
from actors.extraction.decide.content.layout import Columns, Floats, Ints, Layout

STEMS = (
    *(
        "about",
        "accord",
        "ad",
        "address",
        "aside",
        "answer",
        "archive",
        "area",
        "article",
        "attach",
        "author",
        "avatar",
    ),
    *("banner", "bio", "blog", "body", "bottom", "box", "brand", "bread", "btn", "button", "byline", "caption", "card"),
    *("cart", "categ", "cell", "col", "collection", "comment", "consent", "contact", "container", "content", "cookie"),
    *("copy", "cta", "cust", "date", "desc", "detail", "dialog", "doc", "drop", "editor", "embed", "entry", "event"),
    *(
        "excerpt",
        "facet",
        "faq",
        "feat",
        "feed",
        "field",
        "figure",
        "filter",
        "foot",
        "form",
        "forum",
        "gallery",
        "grid",
    ),
    *(
        "head",
        "hero",
        "hidden",
        "icon",
        "image",
        "info",
        "input",
        "intro",
        "item",
        "label",
        "lang",
        "lead",
        "link",
        "list",
    ),
    *(
        "login",
        "logo",
        "main",
        "media",
        "menu",
        "message",
        "meta",
        "mobile",
        "modal",
        "more",
        "name",
        "nav",
        "news",
        "note",
    ),
    *("offer", "option", "overlay", "page", "pagina", "panel", "paragraph", "plan", "policy", "popup", "post", "prev"),
    *("price", "pricing", "product", "profile", "promo", "question", "quick", "quote", "rating", "read", "recent"),
    *(
        "recommend",
        "references",
        "related",
        "reply",
        "result",
        "review",
        "rich",
        "search",
        "section",
        "service",
        "share",
    ),
    *(
        "ship",
        "shop",
        "side",
        "sign",
        "signature",
        "sku",
        "slide",
        "social",
        "spec",
        "sponsor",
        "stat",
        "sticky",
        "story",
    ),
    *("sub", "subscri", "suggest", "summary", "swatch", "tab", "table", "tag", "teaser", "team", "testimon", "text"),
    *("thread", "thumb", "time", "title", "toc", "tool", "top", "topic", "total", "upsell", "user", "variant", "video"),
    *("vote", "widget", "wiki", "wrap"),
)
"""Beginnings of words in classes, ids and other names that tell what an element is for."""

TAGS = (
    *(
        "a",
        "article",
        "aside",
        "blockquote",
        "button",
        "dd",
        "details",
        "dl",
        "dt",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
    ),
    *("h3", "h4", "header", "label", "li", "main", "nav", "ol", "p", "pre", "section", "strong", "summary", "table"),
    *("tbody", "td", "th", "ul"),
)
NAMES = (*(f"in_{stem}" for stem in STEMS), *(f"in_<{tag}>" for tag in TAGS))

_STEM = re.compile("|".join(sorted(STEMS, reverse=True)))
_LEVELS = (0, 1, 2, 3, 4, 6)
_FULL = 20
"""Words from which a block reads like a paragraph."""


def columns(layout: Layout) -> Columns:
    """Return what the elements around a block say of it, a column a feature."""
    return {**_names(layout), **_containers(layout)}


def ancestor(layout: Layout, level: int) -> Ints:
    """Return the box that is so many steps above each block, where each step holds more blocks than the last."""
    found = layout.box
    for _ in range(level):
        found = layout.up[found]
    return found


def _names(layout: Layout) -> Columns:
    """Say how near an element with such a name is: 1 for the innermost box, 1/2 for its parent, and so on."""
    number, named = layout.names
    marks = np.zeros((len(named), len(NAMES)), np.float32)
    for row, words in enumerate(named):
        marks[row, [at for word in words if (at := _mark(word)) >= 0]] = 1
    near = marks[number]
    for level in layout.levels:
        above = near[layout.parent[level]]
        near[level] = np.maximum(near[level], above / (1 + above))
    found = near[layout.box]
    return {name: found[:, at] for at, name in enumerate(NAMES)}


@lru_cache(10_000)
def _mark(word: str) -> int:
    stem = _STEM.match(word)
    return _AT.get(stem[0] if stem else word, -1)


_AT = {stem: at for at, stem in enumerate(STEMS)} | {f"<{tag}>": len(STEMS) + at for at, tag in enumerate(TAGS)}


def _containers(layout: Layout) -> Columns:
    tokens = layout.tokens
    linked = layout.linked * tokens
    stops = np.array([block.text.count(". ") + block.text.count("\u3002") for block in layout.blocks], np.float32)
    ends = np.array([block.text[-1] in shape.STOPS for block in layout.blocks], np.float32)
    words = np.maximum(layout.sums(tokens), 1)
    count = np.maximum((layout.end - layout.first).astype(np.float32), 1)
    about = {
        "words": words / words[0],
        "log_words": np.log1p(words),
        "links": layout.sums(linked) / words,
        "blocks": count / count[0],
        "per_block": words / count,
        "sentences": layout.sums(stops + ends) / count,
        "full": layout.sums(np.where(tokens >= _FULL, tokens * (1 - linked / tokens), 0)) / words,
    }
    found: Columns = {}
    for level in _LEVELS:
        at = ancestor(layout, level)
        found.update({f"{name}_{level}": values[at] for name, values in about.items()})
        found[f"in_place_{level}"] = _within(layout, at)
    return found


def _within(layout: Layout, box: Ints) -> Floats:
    index = np.arange(len(layout.box))
    size = np.maximum(layout.end[box] - layout.first[box], 1)
    return np.asarray((index - layout.first[box]) / size, np.float32)
