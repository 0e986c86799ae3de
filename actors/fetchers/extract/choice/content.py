"""Chooses the blocks that are the main content, and says how sure it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from turbohtml import Element

from actors.fetchers.extract.blocks import Block, count_words
from actors.fetchers.extract.choice import attempts, calibration, company, features, groups, page_type
from actors.fetchers.extract.choice.cut import cut
from actors.fetchers.extract.choice.layout import Layout
from actors.fetchers.extract.choice.model import model
from actors.fetchers.extract.choice.trees import probability
from actors.fetchers.extract.tree import Page
from protocol.browse import SelectorAttempt
from protocol.confidence import Confidence, Source, confidence
from protocol.page import PageType

TEMPERATURE = 1.25
"""Block scores are divided by this before the cut, by log-loss on pages that the trees had not seen."""

MAX_BLOCKS = 20_000
"""Blocks of a page that are looked at."""

_SCARCE = 60
_TWICE = 2
_MORE = 40
"""Texts from elsewhere are used where fewer than 60 words were kept, and the text has 40 more than twice as many."""

_MOST_SURE = 0.6
"""How sure a text from elsewhere can make: nobody can tell whether the page shows it."""


@dataclass(frozen=True)
class Content:
    """The main content: the blocks that were kept, in reading order.

    `holders` are all elements that hold a kept text, up to the root, so that `element in content.holders` tells whether
    a table, link or heading belongs to the main content. `text` is a line for every kept block. `said_elsewhere` is
    text that stands in no block (state of a framework, structured data, a description), used where the blocks have
    none. `page_types` are probabilities that add up to 1. `attempts` are the ways that were tried (000 §6).
    """

    blocks: tuple[Block, ...]
    holders: frozenset[Element]
    text: str
    confidence: Confidence
    page_types: Mapping[PageType, float]
    attempts: tuple[SelectorAttempt, ...]
    said_elsewhere: str = ""


@dataclass(frozen=True)
class _Choice:
    """The blocks that were kept out of those that were looked at, and how good they are likely to be."""

    blocks: tuple[Block, ...] = ()
    sure: float = 0.0
    types: Mapping[PageType, float] = field(default_factory=lambda: dict.fromkeys(PageType, 1 / len(PageType)))
    marked: tuple[attempts.Way, ...] = ()


def choose(page: Page, blocks: list[Block], elsewhere: tuple[str, ...] = ()) -> Content:
    """Choose the main content; `elsewhere` are texts that the page holds outside of its blocks, best first."""
    choice = _among(page, blocks[:MAX_BLOCKS]) if blocks else _Choice()
    text = "\n".join(block.text for block in choice.blocks)
    words = sum(block.tokens for block in choice.blocks)
    other = next((one for one in elsewhere if _says_more(one, words)), "")
    ways = [
        *choice.marked,
        attempts.Way(attempts.BLOCKS, "heuristic", Source.HEURISTIC, len(text)),
        attempts.Way(attempts.ELSEWHERE, "data", Source.FRAMEWORK_DATA, max(map(len, elsewhere), default=0)),
    ]
    if other:
        sure = confidence(Source.FRAMEWORK_DATA, _MOST_SURE)
        return Content((), frozenset(), other, sure, choice.types, attempts.trace(ways, ways[-1]), other)
    holder = next((way for way in choice.marked if way.holds), ways[-2])
    source = holder.source if text else Source.FALLBACK
    sure = confidence(source, choice.sure)
    return Content(choice.blocks, _holders(choice.blocks), text, sure, choice.types, attempts.trace(ways, holder))


def _among(page: Page, blocks: list[Block]) -> _Choice:
    layout = Layout.of(blocks)
    columns = features.columns(page, layout)
    learned = model()
    types = page_type.probabilities(learned.types, columns, layout.tokens)
    scores = learned.blocks.scores(learned.blocks.matrix(columns))[:, 0] / TEMPERATURE
    role = company.roles(layout)[layout.box]
    chances = probability(groups.adjusted(scores, role, columns, layout.tokens, types))
    made = cut(chances, layout.tokens)
    found = calibration.evidence(made, chances, columns, layout.tokens, types)
    return _Choice(
        tuple(block for block, kept in zip(blocks, made.kept.tolist(), strict=True) if kept),
        calibration.expected(learned.sure, found),
        page_type.by_name(types, page.url),
        tuple(attempts.marked(layout, made.kept)),
    )


def _says_more(text: str, words: int) -> bool:
    return words < _SCARCE and count_words(text) > _TWICE * words + _MORE


def _holders(blocks: Iterable[Block]) -> frozenset[Element]:
    found = set[Element]()
    for block in blocks:
        for node in block.nodes:
            above = node.parent
            while isinstance(above, Element) and above not in found:
                found.add(above)
                above = above.parent
    return frozenset(found)
