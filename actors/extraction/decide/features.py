"""Puts all that is known of the blocks of a page into columns: here by the block itself and by the page as a whole."""

from __future__ import annotations

import re
from collections import Counter
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from actors.extraction.decide import (
    block_arrays,
    features_context,
    features_extent,
    features_similarity,
    features_words,
)
from actors.extraction.decide.block_arrays import BlockArrays, Columns, Floats, as_list
from actors.extraction.parse.tree import Page

_SHAPE_CHARS = 320
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_TAGS = ("p", "li", "td", "th", "dt", "dd", "div", "span", "a", "button", "label", "figcaption", "blockquote", "pre")
"""Innermost elements that have a column each, beside headings."""

_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_PHRASE = re.compile(
    rf"(?=[\d($€£¥₹₽]|\b(?:{_MONTHS}))"  # what no phrase begins with is passed at once
    r"(?:(?P<price>[$€£¥₹₽]\s?\d|\d\s?(?:[€£₽₴元円]|usd|eur|kr\b|zł))"
    r"|(?P<date>\b(?:(?:19|20)\d\d[-/.年]\d\d?[-/.月]\d\d?|[a-z]+\.?\s\d\d?\b|\d\d?[./]\d\d?[./](?:19|20)\d\d\b"
    r"|\d\d?\.?\s[^\W\d_]{3,12}\.?,?\s(?:19|20)\d\d\b|\d\d?:\d\d\b"
    r"|\d+\s(?:min|hour|day|week|month|year)s?\sago\b))"
    r"|(?P<facet>\(\d[\d,.]{0,7}\)$))",
    re.MULTILINE,
)
PHRASES = ("price", "date", "facet")
"""The kinds of phrases that are looked for in a block, each at most once."""

_PHRASE_CHARS = 160
"""Characters of a block that are read for phrases."""

_PATH_WORDS = {
    "blog": r"blogs?|posts?|entry",
    "news": r"news|story|stories|article|articles|press",
    "product": r"products?|p|item|items|dp|shop|store|sku|buy",
    "collection": r"collections?|category|categories|c|cat|catalog|department|browse",
    "forum": r"forums?|threads?|t|topics?|viewtopic|showthread|discussion|questions|comments|community|answers",
    "docs": r"docs?|documentation|guide|guides|manual|reference|api|tutorial|tutorials|learn|help|wiki|kb|en",
    "service": r"services?|solutions?|pricing|about|company|platform|features?|industries|practice",
    "listing": r"search|tags?|archive|archives|page|list|jobs|events|directory|results|author|topics|listing",
}
_PATHS = {name: re.compile(rf"(?:^|[/._-])(?:{words})(?:$|[/._-])") for name, words in _PATH_WORDS.items()}
_DATED = re.compile(r"/(?:19|20)\d\d[/-](?:\d\d?|[a-z]{3})(?:[/-]|$)")

_DATA_TYPES = (
    "article", "newsarticle", "blogposting", "webpage", "product", "offer", "aggregaterating", "review", "faqpage",
    "question", "breadcrumblist", "itemlist", "collectionpage", "organization", "localbusiness", "service", "event",
    "person", "discussionforumposting", "qapage", "techarticle", "howto", "recipe", "videoobject", "website",
    "blog", "imageobject", "productgroup", "searchaction", "jobposting",
)  # fmt: skip
_DATA_TYPE = re.compile(r'"@type"\s*:\s*(?:"([^"]{3,40})"|\[([^\]]{3,200})\])')

_COUNTED_BOXES = (
    *("p", "li", "h1", "h2", "h3", "h4", "td", "th", "pre", "code", "section", "article", "form", "dt", "dd"),
    "blockquote",
)
_IDEOGRAPH = re.compile("[\u4e00-\u9fff]")
_READ_CHARS = 2_000
"""Characters of the short blocks that are read for ideographs."""

_SHORT_BLOCK = 12
_PARAGRAPH = 20
"""Words of a block that is read for what it says of the page, and of one that reads like a paragraph."""

_MOSTLY_LINKED = 0.3
_COUNTED_ELEMENTS = ("a", "img", "input", "table", "button", "time", "iframe", "video", "svg", "code", "select")
_OG_TYPES = ("article", "product", "website", "blog", "object", "video")
_MAX_DATA = 300_000


def feature_columns(page: Page, arrays: BlockArrays) -> Columns:
    """Return every feature by its name, a value a block."""
    alone = block_columns(arrays)
    named = features_words.name_columns(arrays)
    kept = features_similarity.weak_label_columns(page, arrays)
    return {
        **alone,
        **named,
        **features_context.ancestor_columns(arrays),
        **features_context.neighbour_columns(arrays, alone),
        **kept,
        **features_extent.extent_columns(arrays, {**alone, **named, **kept}),
        **features_similarity.similarity_columns(page, arrays),
        **page_columns(page, arrays),
    }


def block_columns(arrays: BlockArrays) -> Columns:
    """Return the features of each block by itself, a column a feature."""
    return {**_text_columns(arrays), **_phrase_columns(arrays), **_place_columns(arrays), **_tag_columns(arrays)}


def _text_columns(arrays: BlockArrays) -> Columns:
    texts = [block.text[:_SHAPE_CHARS] for block in arrays.blocks]
    counts = block_arrays.count_characters(texts)
    chars = np.maximum(counts.sum(1), 1)
    tokens = arrays.tokens
    first = [text[0] for text in texts]
    last = [block.text[-1] for block in arrays.blocks]
    shares = {f"share_{kind}": counts[:, at] / chars for at, kind in enumerate(block_arrays.CHARACTER_KINDS)}
    return {
        **shares,
        "tokens": tokens,
        "log_tokens": np.log1p(tokens),
        "word_length": (counts[:, 0] + counts[:, 1]) / np.minimum(tokens, 60),
        "commas": counts[:, block_arrays.CHARACTER_KINDS.index("comma")],
        "stops": counts[:, block_arrays.CHARACTER_KINDS.index("stop")],
        "linked": arrays.linked,
        "collapsed": _flags([block.collapsed for block in arrays.blocks]),
        "ends_sentence": _flags([block_arrays.ends_sentence(block.text) for block in arrays.blocks]),
        "ends_colon": _flags([char in ":\uff1a" for char in last]),
        "starts_capital": _flags([char.isupper() for char in first]),
        "starts_lower": _flags([char.islower() for char in first]),
        "starts_digit": _flags([char.isdigit() for char in first]),
        "runs": np.array([len(block.nodes) for block in arrays.blocks], np.float32),
    }


def _phrase_columns(arrays: BlockArrays) -> Columns:
    texts = [block.text[:_PHRASE_CHARS].lower() for block in arrays.blocks]
    starts = np.concatenate([[0], np.cumsum([len(text) + 1 for text in texts])])
    flags = np.zeros((len(PHRASES), len(texts)), np.float32)
    matches = [(PHRASES.index(match.lastgroup or ""), match.start()) for match in _PHRASE.finditer("\n".join(texts))]
    if matches:
        kinds, places = np.array(matches).T
        flags[kinds, np.searchsorted(starts, places, "right") - 1] = 1
    return {f"says_{kind}": flags[at] for at, kind in enumerate(PHRASES)}


def _place_columns(arrays: BlockArrays) -> Columns:
    count = len(arrays.blocks)
    tokens = arrays.tokens
    index = np.arange(count, dtype=np.float32)
    before = np.concatenate([[0], np.cumsum(tokens)[:-1]]).astype(np.float32)
    texts = [block.text for block in arrays.blocks]
    repeats = Counter(texts)
    return {
        "index": np.minimum(index, 500),
        "from_end": np.minimum(count - index, 500),
        "place": index / count,
        "token_place": before / tokens.sum(),
        "tokens_before": np.log1p(before),
        "repeats": np.array([min(repeats[text], 20) for text in texts], np.float32),
        "depth": arrays.depth[arrays.box].astype(np.float32),
    }


def _tag_columns(arrays: BlockArrays) -> Columns:
    tags = [arrays.boxes[at].tag for at in as_list(arrays.box)]
    level = {tag: float(at + 1) for at, tag in enumerate(_HEADINGS)}
    number = np.array([_TAGS.index(tag) if tag in _TAGS else -1 for tag in tags], np.int64)
    of_tag = (np.arange(len(_TAGS))[:, None] == number).astype(np.float32)
    columns: Columns = {f"is_{tag}": of_tag[at] for at, tag in enumerate(_TAGS)}
    columns["own_heading"] = np.array([level.get(tag, 0.0) for tag in tags], np.float32)
    return columns


def _flags(values: list[bool]) -> Floats:
    """Return 1 for what is true, 0 for the rest."""
    truths: NDArray[np.bool_] = np.array(values, np.bool_)
    return truths.astype(np.float32)


def page_columns(page: Page, arrays: BlockArrays) -> Columns:
    """Return what holds for every block of a page, a column a feature."""
    facts, count = _page_features(page, arrays), len(arrays.blocks)
    values = np.array(list(facts.values()), np.float32)
    return dict(zip(facts, np.repeat(values, count).reshape(-1, count), strict=True))


def _page_features(page: Page, arrays: BlockArrays) -> dict[str, float]:
    """Describe a page in numbers."""
    return {**_address_features(page.url), **_declared_features(page), **_amount_features(page, arrays)}


def _address_features(url: str) -> dict[str, float]:
    try:
        parts = urlsplit(url.rpartition("/http")[2] if "web.archive.org" in url else url)
    except ValueError:
        parts = urlsplit("")
    path = parts.path.lower()
    last = path.rstrip("/").rpartition("/")[2]
    facts = {f"url_{name}": float(pattern.search(path) is not None) for name, pattern in _PATHS.items()}
    return {
        **facts,
        "url_length": float(min(len(path), 200)),
        "url_slashes": float(path.count("/")),
        "url_digits": float(sum(char.isdigit() for char in path[:200])),
        "url_dashes": float(last.count("-")),
        "url_dated": float(_DATED.search(path) is not None),
        "url_query": float(bool(parts.query)),
        "url_home": float(bool(parts.netloc) and path in ("", "/")),
        "url_file": float("." in last),
        "url_last_digits": float(last.isdigit()),
    }


def _declared_features(page: Page) -> dict[str, float]:
    data = page.once(features_similarity.linked_data)[:_MAX_DATA]
    types = {
        part.strip(" \"'\n").lower() for pair in _DATA_TYPE.findall(data) for part in (pair[0] or pair[1]).split(",")
    }
    meta = page.root.select_one("meta[property='og:type']")
    kind = ((meta.attr("content") or "") if meta is not None else "").lower()
    facts = {f"ld_{name}": float(name in types) for name in _DATA_TYPES}
    facts.update({f"og_{name}": float(name in kind) for name in _OG_TYPES})
    facts["ld_any"] = float(bool(data))
    published = page.root.select_one("meta[property='article:published_time']")
    facts["og_published"] = float(published is not None)
    return facts


def _amount_features(page: Page, arrays: BlockArrays) -> dict[str, float]:
    tags = Counter(box.tag for box in arrays.boxes)
    texts = " ".join(block.text for block in arrays.blocks if block.tokens < _SHORT_BLOCK).lower()
    words = float(arrays.tokens.sum())
    lengths = arrays.tokens
    linked = arrays.linked
    facts = {f"n_{tag}": float(np.log1p(tags[tag])) for tag in _COUNTED_BOXES}
    counted = Counter(element.tag for element in page.root.iter_elements(_COUNTED_ELEMENTS))
    facts |= {f"all_{tag}": float(np.log1p(counted[tag])) for tag in _COUNTED_ELEMENTS}
    phrases = {
        "prices": ("$", "€", "£"),
        "cart": ("add to cart", "add to bag", "add to basket"),
        "reply": ("reply", "回复"),
    }
    phrases |= {"reviews": ("review",), "posted": ("posted", "joined", "发表"), "share": ("share",), "ago": (" ago",)}
    phrases |= {
        "read_more": ("read more", "learn more"),
        "views": ("views",),
        "quote": ("quote",),
        "results": ("results",),
    }
    for name, parts in phrases.items():
        facts[f"said_{name}"] = float(np.log1p(sum(texts.count(part) for part in parts)))
    return facts | {
        "page_words": float(np.log1p(words)),
        "page_blocks": float(np.log1p(len(lengths))),
        "page_linked": float((linked * lengths).sum() / words),
        "page_per_block": words / len(lengths),
        "page_full": float(lengths[(lengths >= _PARAGRAPH) & (linked < _MOSTLY_LINKED)].sum() / words),
        "page_longest": float(np.log1p(lengths.max())),
        "page_depth": float(arrays.depth.max()),
        "page_ideographs": float(len(_IDEOGRAPH.findall(texts, 0, _READ_CHARS)) / max(len(texts[:_READ_CHARS]), 1)),
    }
