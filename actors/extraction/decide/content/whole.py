"""Describes a page as a whole: its address, its marks, how much of what it holds."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import numpy as np

from actors.extraction.decide.content.layout import Columns, Layout
from actors.extraction.parse.tree import Page

PATH_WORDS = {
    "blog": r"blogs?|posts?|entry",
    "news": r"news|story|stories|article|articles|press",
    "product": r"products?|p|item|items|dp|shop|store|sku|buy",
    "collection": r"collections?|category|categories|c|cat|catalog|department|browse",
    "forum": r"forums?|threads?|t|topics?|viewtopic|showthread|discussion|questions|comments|community|answers",
    "docs": r"docs?|documentation|guide|guides|manual|reference|api|tutorial|tutorials|learn|help|wiki|kb|en",
    "service": r"services?|solutions?|pricing|about|company|platform|features?|industries|practice",
    "listing": r"search|tags?|archive|archives|page|list|jobs|events|directory|results|author|topics|listing",
}
_PATHS = {name: re.compile(rf"(?:^|[/._-])(?:{words})(?:$|[/._-])") for name, words in PATH_WORDS.items()}
_DATED = re.compile(r"/(?:19|20)\d\d[/-](?:\d\d?|[a-z]{3})(?:[/-]|$)")

KINDS = (
    *("article", "newsarticle", "blogposting", "webpage", "product", "offer", "aggregaterating", "review", "faqpage"),
    *("question", "breadcrumblist", "itemlist", "collectionpage", "organization", "localbusiness", "service", "event"),
    *("person", "discussionforumposting", "qapage", "techarticle", "howto", "recipe", "videoobject", "website", "blog"),
    *("imageobject", "productgroup", "searchaction", "jobposting"),
)
_KIND = re.compile(r'"@type"\s*:\s*(?:"([^"]{3,40})"|\[([^\]]{3,200})\])')

MEMBERS = (
    *("p", "li", "h1", "h2", "h3", "h4", "td", "th", "pre", "code", "section", "article", "form", "dt", "dd"),
    "blockquote",
)
_SHORT = 12
_FULL = 20
"""Words of a block that is read for what it says of the page, and of one that reads like a paragraph."""

_LINKED = 0.3
_COUNTED = ("a", "img", "input", "table", "button", "time", "iframe", "video", "svg", "code", "select")
OG_TYPES = ("article", "product", "website", "blog", "object", "video")
_MAX_DATA = 300_000


def columns(page: Page, layout: Layout) -> Columns:
    """Return what holds for every block of a page, a column a feature."""
    facts = features(page, layout)
    return {name: np.full(len(layout.blocks), value, np.float32) for name, value in facts.items()}


def features(page: Page, layout: Layout) -> dict[str, float]:
    """Describe a page in numbers."""
    return {**_address(page.url), **_marks(page), **_amounts(page, layout)}


def _address(url: str) -> dict[str, float]:
    try:
        parts = urlsplit(url.rpartition("/http")[2] if "web.archive.org" in url else url)
    except ValueError:
        parts = urlsplit("")
    path = parts.path.lower()
    last = path.rstrip("/").rpartition("/")[2]
    found = {f"url_{name}": float(pattern.search(path) is not None) for name, pattern in _PATHS.items()}
    return {
        **found,
        "url_length": float(min(len(path), 200)),
        "url_slashes": float(path.count("/")),
        "url_digits": float(sum(char.isdigit() for char in path[:200])),
        "url_dashes": float(last.count("-")),
        "url_dated": float(_DATED.search(path) is not None),
        "url_query": float(bool(parts.query)),
        "url_home": float(path in ("", "/")),
        "url_file": float("." in last),
        "url_last_digits": float(last.isdigit()),
    }


def _marks(page: Page) -> dict[str, float]:
    data = " ".join(script.text for script in page.root.select("script[type='application/ld+json']"))[:_MAX_DATA]
    said = {part.strip(" \"'\n").lower() for pair in _KIND.findall(data) for part in (pair[0] or pair[1]).split(",")}
    meta = page.root.select_one("meta[property='og:type']")
    kind = ((meta.attr("content") or "") if meta is not None else "").lower()
    found = {f"ld_{name}": float(name in said) for name in KINDS}
    found.update({f"og_{name}": float(name in kind) for name in OG_TYPES})
    found["ld_any"] = float(bool(data))
    published = page.root.select_one("meta[property='article:published_time']")
    found["og_published"] = float(published is not None)
    return found


def _amounts(page: Page, layout: Layout) -> dict[str, float]:
    tags = [box.tag for box in layout.boxes]
    texts = " ".join(block.text for block in layout.blocks if block.tokens < _SHORT).lower()
    words = float(layout.tokens.sum())
    lengths = layout.tokens
    linked = layout.linked
    found = {f"n_{tag}": float(np.log1p(tags.count(tag))) for tag in MEMBERS}
    found.update({f"all_{tag}": float(np.log1p(sum(1 for _ in page.root.iter_elements(tag)))) for tag in _COUNTED})
    said = {
        "prices": ("$", "€", "£"),
        "cart": ("add to cart", "add to bag", "add to basket"),
        "reply": ("reply", "回复"),
    }
    said |= {"reviews": ("review",), "posted": ("posted", "joined", "发表"), "share": ("share",), "ago": (" ago",)}
    said |= {
        "read_more": ("read more", "learn more"),
        "views": ("views",),
        "quote": ("quote",),
        "results": ("results",),
    }
    for name, parts in said.items():
        found[f"said_{name}"] = float(np.log1p(sum(texts.count(part) for part in parts)))
    return found | {
        "page_words": float(np.log1p(words)),
        "page_blocks": float(np.log1p(len(lengths))),
        "page_linked": float((linked * lengths).sum() / words),
        "page_per_block": words / len(lengths),
        "page_full": float(lengths[(lengths >= _FULL) & (linked < _LINKED)].sum() / words),
        "page_longest": float(np.log1p(lengths.max())),
        "page_depth": float(layout.depth.max()),
        "page_ideographs": float(
            sum("\u4e00" <= char <= "\u9fff" for char in texts[:2000]) / max(len(texts[:2000]), 1)
        ),
    }
