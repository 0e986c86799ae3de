"""Describes each block by words: those in the names of the elements around it, and its own where it is short."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from actors.extraction.decide.block_arrays import BlockArrays, Columns, Ints, Roles

_STEMS = (
    "about", "accord", "ad", "address", "aside", "answer", "archive", "area", "article", "attach", "author",
    "avatar", "banner", "bio", "blog", "body", "bottom", "box", "brand", "bread", "btn", "button", "byline",
    "caption", "card", "cart", "categ", "cell", "col", "collection", "comment", "consent", "contact", "container",
    "content", "cookie", "copy", "cta", "cust", "date", "desc", "detail", "dialog", "doc", "drop", "editor",
    "embed", "entry", "event", "excerpt", "facet", "faq", "feat", "feed", "field", "figure", "filter", "foot",
    "form", "forum", "gallery", "grid", "head", "hero", "hidden", "icon", "image", "info", "input", "intro", "item",
    "label", "lang", "lead", "link", "list", "login", "logo", "main", "media", "menu", "message", "meta", "mobile",
    "modal", "more", "name", "nav", "news", "note", "offer", "option", "overlay", "page", "pagina", "panel",
    "paragraph", "plan", "policy", "popup", "post", "prev", "price", "pricing", "product", "profile", "promo",
    "question", "quick", "quote", "rating", "read", "recent", "recommend", "references", "related", "reply",
    "result", "review", "rich", "search", "section", "service", "share", "ship", "shop", "side", "sign",
    "signature", "sku", "slide", "social", "spec", "sponsor", "stat", "sticky", "story", "sub", "subscri",
    "suggest", "summary", "swatch", "tab", "table", "tag", "teaser", "team", "testimon", "text", "thread", "thumb",
    "time", "title", "toc", "tool", "top", "topic", "total", "upsell", "user", "variant", "video", "vote", "widget",
    "wiki", "wrap",
)  # fmt: skip
"""Beginnings of words in classes, ids and other names that show what an element is for."""

_TAGS = (
    "a", "article", "aside", "blockquote", "button", "dd", "details", "dl", "dt", "figure", "footer", "form", "h1",
    "h2", "h3", "h4", "header", "label", "li", "main", "nav", "ol", "p", "pre", "section", "strong", "summary",
    "table", "tbody", "td", "th", "ul",
)  # fmt: skip
_COLUMNS = (*(f"in_{stem}" for stem in _STEMS), *(f"in_<{tag}>" for tag in _TAGS))

_STEM = re.compile("|".join(sorted(_STEMS, reverse=True)))

_INDEX = {stem: at for at, stem in enumerate(_STEMS)} | {f"<{tag}>": len(_STEMS) + at for at, tag in enumerate(_TAGS)}

MAX_SHORT_WORDS = 12
"""Words up to which a block is read word by word: longer ones show what they are by their shape."""

_SCALE = 1000
_FADING = 0.7
"""What the names of an ancestor count, a step further up each time."""


def name_columns(arrays: BlockArrays) -> Columns:
    """Say how near an element with such a name is: 1 for the innermost box, 1/2 for its parent, and so on."""
    _, named = arrays.names
    roles = arrays.roles
    width = len(_COLUMNS)
    marks = np.zeros(len(named) * width, np.float32)
    marks[[row * width + at for row, words in enumerate(named) for word in words if (at := _index_of(word)) >= 0]] = 1
    near = marks.reshape(len(named), width)[roles.names]
    for level in roles.levels:
        above = near[roles.parent[level]]
        near[level] = np.maximum(near[level], above / (1 + above))
    return dict(zip(_COLUMNS, near.T.take(arrays.role[arrays.box], axis=1), strict=True))


@lru_cache(10_000)
def _index_of(word: str) -> int:
    stem = _STEM.match(word)
    return _INDEX.get(stem[0] if stem else word, -1)


class PageWords(Struct, frozen=True):
    """The words of a page: of the names of boxes by `number`, and of each short block (none for a longer one).

    `role` is that of the box of each block.
    """

    number: Ints
    of_names: Sequence[tuple[str, ...]]
    of_blocks: Sequence[tuple[str, ...]]
    role: Ints
    roles: Roles


class Lexicon(Struct, frozen=True):
    """How much more of what stands under a name, or in a text with a word, is content than of its page: -1 to 1."""

    names: Mapping[str, float]
    texts: Mapping[str, float]

    @staticmethod
    def load(arrays: Mapping[str, NDArray[np.generic]]) -> Lexicon:
        """Read what `save` wrote."""
        weights_by_kind = list[dict[str, float]]()
        for kind in ("names", "texts"):
            words = str(arrays[f"lexicon.{kind}"]).splitlines()
            weights = (arrays[f"lexicon.{kind}.weights"].astype(np.float64) / _SCALE).tolist()
            weights_by_kind.append(dict(zip(words, weights, strict=True)))
        return Lexicon(*weights_by_kind)

    def save(self) -> dict[str, NDArray[np.generic]]:
        """Return the words as arrays, their weights rounded."""
        arrays: dict[str, NDArray[np.generic]] = {}
        for kind, known in (("names", self.names), ("texts", self.texts)):
            arrays[f"lexicon.{kind}"] = np.array("\n".join(known))
            arrays[f"lexicon.{kind}.weights"] = np.array([round(one * _SCALE) for one in known.values()], np.int16)
        return arrays

    def rounded(self) -> Lexicon:
        """Return the lexicon as it is after saving and loading."""
        return Lexicon.load(self.save())

    def columns(self, spelling: PageWords) -> Columns:
        """Weigh the names around each block and its own words, a column a feature."""
        return {**self._around(spelling), **self._within(spelling)}

    def _around(self, spelling: PageWords) -> Columns:
        get = self.names.get
        weights = [[get(word, 0.0) for word in words] for words in spelling.of_names]
        known = np.array([(sum(row), min(row), max(row)) for row in weights], np.float32)
        own, least, most = known[spelling.roles.names].T
        total, faded = own.copy(), own.copy()
        least, most = np.minimum(least, 0), np.maximum(most, 0)
        parent = spelling.roles.parent
        for level in spelling.roles.levels:
            above = parent[level]
            total[level] += total[above]
            faded[level] += np.float32(_FADING) * faded[above]
            least[level] = np.minimum(least[level], least[above])
            most[level] = np.maximum(most[level], most[above])
        role = spelling.role
        above = parent[role]
        return {
            "names_own": own[role],
            "names_sum": total[role],
            "names_least": least[role],
            "names_most": most[role],
            "names_faded": faded[role],
            "names_above": own[above],
            "names_above_2": own[parent[above]],
        }

    def _within(self, spelling: PageWords) -> Columns:
        get = self.texts.get
        rows = [[get(word, 0.0) for word in words] or [0.0] for words in spelling.of_blocks]
        mean = np.array([sum(row) / len(row) for row in rows], np.float32)
        edge = np.zeros(1, np.float32)
        all_words = [word for words in spelling.of_blocks for word in words]
        known = sum(word in self.texts for word in all_words) / max(len(all_words), 1)
        return {
            "words_known": np.full(len(rows), known, np.float32),
            "words_mean": mean,
            "words_least": np.array([min(row) for row in rows], np.float32),
            "words_most": np.array([max(row) for row in rows], np.float32),
            "words_first": np.array([row[0] for row in rows], np.float32),
            "words_mean@-1": np.concatenate([edge, mean[:-1]]),
            "words_mean@+1": np.concatenate([mean[1:], edge]),
        }


def page_words(arrays: BlockArrays) -> PageWords:
    """Collect the words of a page."""
    number, named = arrays.names
    of_blocks = [tuple(words) if len(words) <= MAX_SHORT_WORDS else () for words in arrays.words]
    return PageWords(number, named, of_blocks, arrays.role[arrays.box], arrays.roles)
