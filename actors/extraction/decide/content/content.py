"""Chooses the blocks that are the main content, and says how sure it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from turbohtml import Element

from actors.extraction.decide.blocks import WORD, Block, count_words
from actors.extraction.decide.content import attempts, calibration, features, groups, lexicon, page_type
from actors.extraction.decide.content.cut import cut
from actors.extraction.decide.content.layout import Layout
from actors.extraction.decide.content.model import model
from actors.extraction.decide.content.trees import probability
from actors.extraction.parse.tree import Page
from protocol.browse import SelectorAttempt
from protocol.confidence import Confidence, Source, confidence
from protocol.page import PageType

TEMPERATURE = 1.25
"""Block scores are divided by this before the cut, by log-loss on pages that the trees had not seen."""

MAX_BLOCKS = 8_000
"""Blocks of a page that are looked at; those beyond share the lot of the look-alikes among them."""

_NEXT_TO_NOTHING = 30
_TEASER = 150
_TWICE = 2
_MORE = 40
_WITHIN = 0.8
"""A text from elsewhere is used where it has 40 words more than twice as many as were kept, and these are fewer than
30, or fewer than 150 and nearly all in it: then the page shows the beginning alone, and keeps the rest as data."""

_MOST_SURE = 0.6
"""How sure a text from elsewhere can make: nobody can tell whether the page shows it."""

_FULL_WORDS = 250
"""Words from which such a text may be the whole content: a shorter one is rather a description of it."""


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
    if len(blocks) > MAX_BLOCKS:
        choice = replace(choice, blocks=(*choice.blocks, *_alike(choice.blocks, blocks)))
    text = "\n".join(block.text for block in choice.blocks)
    other = next((one for one in elsewhere if _says_more(one, text)), "")
    ways = [
        *choice.marked,
        attempts.Way(attempts.BLOCKS, "heuristic", Source.HEURISTIC, len(text)),
        attempts.Way(attempts.ELSEWHERE, "data", Source.FRAMEWORK_DATA, max(map(len, elsewhere), default=0)),
    ]
    if other:
        sure = confidence(Source.FRAMEWORK_DATA, _MOST_SURE * min(count_words(other) / _FULL_WORDS, 1.0))
        return Content((), frozenset(), other, sure, choice.types, attempts.trace(ways, ways[-1]), other)
    holder = next((way for way in choice.marked if way.holds), ways[-2])
    source = holder.source if text else Source.FALLBACK
    sure = confidence(source, choice.sure)
    return Content(choice.blocks, _holders(choice.blocks), text, sure, choice.types, attempts.trace(ways, holder))


def _among(page: Page, blocks: list[Block]) -> _Choice:
    layout = Layout.of(blocks)
    learned = model()
    columns = features.columns(page, layout)
    types = page_type.probabilities(learned.types, columns, layout.tokens)
    columns |= learned.lexicon.columns(lexicon.spell(layout)) | page_type.columns(types, len(blocks))
    scores = learned.blocks.scores(learned.blocks.matrix(columns))[:, 0] / TEMPERATURE
    role = layout.role[layout.box]
    chances = probability(groups.adjusted(scores, role, columns, layout.tokens, types))
    made = cut(chances, layout.tokens)
    found = calibration.evidence(made, chances, columns, layout.tokens, types)
    return _Choice(
        tuple(block for block, kept in zip(blocks, made.kept.tolist(), strict=True) if kept),
        calibration.expected(learned.sure, found),
        page_type.by_name(types, page.url),
        tuple(attempts.marked(layout, made.kept)),
    )


def _alike(kept: Iterable[Block], blocks: list[Block]) -> Iterator[Block]:
    """Find the blocks beyond the last that was looked at of which most that look like them were kept."""
    looks = Counter(_look(block) for block in kept)
    seen = Counter(_look(block) for block in blocks[:MAX_BLOCKS])
    return (block for block in blocks[MAX_BLOCKS:] if 2 * looks[_look(block)] > seen[_look(block)])


def _look(block: Block) -> tuple[str, ...]:
    above = block.box.parent
    return (block.box.tag, block.box.key, *((above.tag, above.key) if above is not None else ()))


def _says_more(other: str, text: str) -> bool:
    words = count_words(text)
    if words >= _TEASER or count_words(other) <= _TWICE * words + _MORE:
        return False
    kept = Counter(WORD.findall(text.lower()))
    return words < _NEXT_TO_NOTHING or (kept & Counter(WORD.findall(other.lower()))).total() >= _WITHIN * words


def _holders(blocks: Iterable[Block]) -> frozenset[Element]:
    found = set[Element]()
    for block in blocks:
        for node in block.nodes:
            above = node.parent
            while isinstance(above, Element) and above not in found:
                found.add(above)
                above = above.parent
    return frozenset(found)
