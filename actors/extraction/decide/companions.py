"""Finds what goes with the content that was kept, whatever it is taken for by itself: code, terms, what is announced.

A line of code, a signature or a list of short items looks like little that is content; where it stands tells more.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

import numpy as np
from numpy.typing import NDArray

from actors.extraction.decide.block_arrays import BlockArrays, as_list
from actors.extraction.evidence.money import amounts

Kept = NDArray[np.bool_]

_NAMED_BY: dict[str, tuple[str, ...]] = {"dt": ("dd", "dt"), "summary": ()}
"""What names something, and the tags of what it names: for a summary, all that follows in its parent."""

_NO_TEXT = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "pre"})
"""What tells nothing of the code beside it: other code, and the headings around."""

_ANNOUNCED = frozenset({"blockquote", "dl", "ol", "pre", "table", "ul"})
_COLONS, _SENTENCE_WORDS = (":", "\uff1a"), 4
"""What a text ends with that announces something, and its words at least: "Read more:" stands above other pages."""

_MOST_LINKED, _MOST_WORDS = 0.5, 400
"""The share of what is announced that may stand in links, and its words: more is a menu, or a part of its own."""


_PAID = re.compile(
    r"\W*(?:sponsored(?: (?:result|listing|post))?|promoted|paid (?:result|listing)|anzeige|gesponsert|sponsorisé"
    r"|annonce|patrocinad[oa]|sponsorizzato|gesponsord|sponsrad|sponsorowane|реклама|広告|广告|광고)\W*"
)
_PAID_CHARS, _PAID_WORDS = 30, 80
"""Characters of a label that says that somebody has paid for what it stands on, and words of such a thing at most: the
same label above an article stands on what is shown beside it."""

_COUNTED = re.compile(
    r"\d[\d.,]{0,12}\s?k?\s?(?:(?:points?|comments?|answers?|(?:up)?votes?|views?|kommentare?|antworten|punkte?"
    r"|réponses?|commentaires?|vues|comentarios?|comentários?|respuestas?|respostas?|votos?|commenti|risposte"
    r"|комментари\w{0,4}|ответ\w{0,4}|просмотр\w{0,4})\b|条?评论|回答|浏览|コメント)",
    re.IGNORECASE,
)
_COUNTED_WORDS, _MANY_COUNTED = 25, 5
"""Words at most of a line that says how many read, answered or liked what stands above it, and how many such lines a
page has whose parts are of that kind."""

_PRICE_CHARS = 400
"""Characters of a text that are read for a price."""

_PRICE_WORDS, _MANY_PRICES, _PRICED_WORDS = 8, 4, 150
"""Words at most of a price, how many of a kind a list has, and words at most of what has such a price."""

_NOTE_WORDS = 60


def companions(arrays: BlockArrays, kept: Kept) -> Kept:
    """Return the blocks that go with those that were kept."""
    whole = kept.copy()
    for rule in (_code, _named, _announced):
        for blocks in rule(arrays, whole):
            whole[blocks] = True
    return (whole | _paid_labels(arrays, whole) | _counted(arrays, whole) | _prices(arrays, whole)) & ~kept


def _code(arrays: BlockArrays, kept: Kept) -> Iterator[slice]:
    """Yield code of which a part was kept, and code that stands among texts that were."""
    if not (codes := _boxes(arrays, "pre")):
        return
    places = np.arange(len(kept))
    no_text = arrays.blocks_in(np.array([box.tag in _NO_TEXT for box in arrays.boxes]))
    before = as_list(np.maximum.accumulate(np.where(no_text, -1, places)))
    after = as_list(np.minimum.accumulate(np.where(no_text, len(kept), places)[::-1])[::-1])
    for at in codes:
        blocks, around = _blocks_of(arrays, at), _blocks_of(arrays, int(arrays.up[at]))
        start = int(arrays.first[at])
        beside = (before[start], after[start])
        texts = [bool(kept[text]) for text in beside if around.start <= text < around.stop]
        if kept[blocks].any() or (texts and all(texts)):
            yield blocks


def _named(arrays: BlockArrays, kept: Kept) -> Iterator[slice]:
    """Yield terms and summaries above what was kept; from the last, since several terms may share a definition."""
    for at in _boxes(arrays, *_NAMED_BY)[::-1]:
        blocks, parent = _blocks_of(arrays, at), int(arrays.parent[at])
        tags = _NAMED_BY[arrays.boxes[at].tag]
        for named in _starting_at(arrays, blocks.stop, parent, tags) if tags else (parent,):
            if kept[max(int(arrays.first[named]), blocks.stop) : arrays.end[named]].any():
                yield blocks


def _announced(arrays: BlockArrays, kept: Kept) -> Iterator[slice]:
    """Yield the list, table or code that a text that was kept announces by its colon."""
    for index, block in enumerate(arrays.blocks[:-1]):
        announces = block.tokens >= _SENTENCE_WORDS and block.text.endswith(_COLONS)
        if announces and kept[index] and not kept[index + 1]:
            around = int(arrays.up[arrays.box[index]])
            for at in _starting_at(arrays, index + 1, around, _ANNOUNCED):
                blocks = _blocks_of(arrays, at)
                words = arrays.tokens[blocks]
                if words.sum() <= _MOST_WORDS and (arrays.linked[blocks] * words).sum() <= _MOST_LINKED * words.sum():
                    yield blocks


def _boxes(arrays: BlockArrays, *tags: str) -> list[int]:
    return [at for at, box in enumerate(arrays.boxes) if box.tag in tags]


def _blocks_of(arrays: BlockArrays, at: int) -> slice:
    return slice(int(arrays.first[at]), int(arrays.end[at]))


def _starting_at(arrays: BlockArrays, index: int, within: int, tags: Container[str]) -> Iterator[int]:
    """Yield the boxes of some tags that begin with a block, from the innermost to those in the box `within`."""
    at = int(arrays.box[index]) if index < len(arrays.blocks) else 0
    while at not in (0, within) and arrays.first[at] == index:
        if arrays.boxes[at].tag in tags:
            yield at
        at = int(arrays.parent[at])


def is_note(arrays: BlockArrays) -> bool:
    """Return whether a page is a few words in one box: it has no chrome, and its only link is what it leads to."""
    return len(set(arrays.up[arrays.box].tolist())) == 1 and arrays.tokens.sum() <= _NOTE_WORDS


def _paid_labels(arrays: BlockArrays, kept: Kept) -> Kept:
    """Return the labels on what is kept and was paid for: without them a reader takes it for something else."""
    labels = np.zeros(len(kept), np.bool_)
    for at, block in enumerate(arrays.blocks):
        if len(block.text) > _PAID_CHARS or not _PAID.fullmatch(block.text.lower()):
            continue
        around = arrays.up[arrays.box[at]]
        inside = slice(arrays.first[around], arrays.end[around])
        labels[at] = kept[inside].any() and arrays.tokens[inside].sum() <= _PAID_WORDS
    return labels


def _counted(arrays: BlockArrays, kept: Kept) -> Kept:
    """Return the lines that say how many answered or liked each of the things that were kept in a list of them."""
    lines = np.zeros(len(kept), np.bool_)
    before = np.concatenate(([False], kept[:-1]))
    for at in np.flatnonzero(before & ~kept & (arrays.tokens <= _COUNTED_WORDS)).tolist():
        lines[at] = _COUNTED.search(arrays.blocks[at].text) is not None
    return lines if lines.sum() >= _MANY_COUNTED else np.zeros_like(lines)


def _prices(arrays: BlockArrays, kept: Kept) -> Kept:
    """Return the prices of the things of a list that were kept without any."""
    role, matches = arrays.role[arrays.box], np.zeros(len(kept), np.bool_)
    short: list[int] = np.flatnonzero(~kept & (arrays.tokens <= _PRICE_WORDS)).tolist()
    prices = [at for at in short if _currencies(arrays.blocks[at].text)]
    for kind in np.unique(role[prices]).tolist():
        alike = np.concatenate(([0], np.cumsum(role == kind)))
        own = [at for at in prices if role[at] == kind and _is_of_kept(arrays, kept, at, alike)]
        if len(own) >= _MANY_PRICES:
            matches[own] = True
    return matches


def _currencies(text: str) -> set[str]:
    """Return the signs of currencies by the amounts of a text."""
    return {amount.sign for amount in amounts(text[:_PRICE_CHARS]) if amount.sign}


def _is_of_kept(arrays: BlockArrays, kept: Kept, at: int, alike: NDArray[np.int64]) -> bool:
    """Return whether of the largest part of a page with this price alone some was kept, and no amount of its kind."""
    part = int(arrays.box[at])
    while part and alike[arrays.end[up := arrays.parent[part]]] - alike[arrays.first[up]] == 1:
        part = int(up)
    blocks = _blocks_of(arrays, part)
    texts = [block.text for block, is_kept in zip(arrays.blocks[blocks], kept[blocks], strict=True) if is_kept]
    own = _currencies(arrays.blocks[at].text)
    is_told = any(not own.isdisjoint(_currencies(text)) for text in texts)
    return bool(texts) and arrays.tokens[blocks].sum() <= _PRICED_WORDS and not is_told
