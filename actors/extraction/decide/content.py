"""Chooses the blocks that are the main content, and says how sure it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import parse_qsl, urlsplit

import msgspec
import numpy as np
from msgspec import UNSET, Struct, structs
from numpy.typing import NDArray
from turbohtml import Element, Node, Text

from actors.extraction.decide.block_arrays import BlockArrays
from actors.extraction.decide.blocks import Block, count_words, words_in
from actors.extraction.decide.candidates import loose
from actors.extraction.decide.companions import companions, is_note
from actors.extraction.decide.cutoff import Groups, adjusted_scores, best_cutoff, cutoff_evidence, expected_f1
from actors.extraction.decide.features import feature_columns
from actors.extraction.decide.features_words import page_words
from actors.extraction.decide.model import (
    TRAINED_TYPES,
    Scores,
    content_model,
    page_type_columns,
    page_type_probabilities,
    probability,
)
from actors.extraction.decide.site_menus import site_menus
from actors.extraction.parse.text import INLINE, is_permalink
from actors.extraction.parse.tree import Page
from protocol.browse import SelectorAttempt
from protocol.confidence import BASELINES, Confidence, Source, confidence
from protocol.page import PageType

MAX_BLOCKS = 8_000
"""Blocks of a page that are looked at; those beyond share the lot of the look-alikes among them."""

_HARDLY_ANY = 30
_MAX_TEASER = 150
_TIMES_AS_MANY = 2
_MORE_WORDS = 40
_SHARE_WITHIN = 0.8
_SHARE_BEFORE = 0.5
"""A text from elsewhere is used where it has 40 words more than twice as many as were kept, and these are fewer than
30, or fewer than 150 and nearly all in it, half of them in what it begins with: then the page shows the beginning
alone, and keeps the rest as data. Where it shows nearly all of the rest as well, that was seen and left out."""

_MAX_CONFIDENCE = 0.6
"""How sure a text from elsewhere can make: nobody can tell whether the page shows it."""

_FULL_WORDS = 250
"""Words from which such a text may be the whole content: a shorter one is rather a description of it."""

_BLOCKS = "blocks"
_ELSEWHERE = "data"
"""The names of the attempts that are no selectors: the choice among blocks, and texts outside of them."""

_CONFIRMED_SHARE = 0.9
"""Share of what was kept that an element must hold to be confirmed by it."""

_KEPT_SHARE = 0.25
"""Share of an element's words that were kept, or the element says nothing of where the content is."""

_BY_ADDRESS = 0.7
"""What the address alone says of home pages and searches."""  # a judgement: no gold page has these types

_MENU = 4.0
"""What is taken from every score of a menu of the site."""

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_HEADING_SELECTOR = ",".join(sorted(_HEADINGS))
_WRAPPERS = frozenset({"a", "div", "hgroup", "span"})

_QUERY_NAMES = frozenset({"q", "query", "search", "s", "keyword", "keywords", "k"})
_SEARCH = re.compile(r"(?:^|/)(?:search|suche|recherche|buscar|results)(?:[/.]|$)")


class Content(Struct, frozen=True):
    """The main content: the blocks that were kept, in reading order.

    `holders` are all elements that hold a kept text, up to the root, so that `element in content.holders` means that
    a table, link or heading belongs to the main content. `text` is a line for every kept block. `text_elsewhere` is
    text that stands in no block (state of a framework, structured data, a description), used where the blocks have
    none. `page_types` are probabilities that add up to 1. `attempts` say which selectors and texts were tried (000 §6).
    """

    blocks: tuple[Block, ...]
    holders: frozenset[Element]
    text: str
    confidence: Confidence
    page_types: Mapping[PageType, float]
    attempts: tuple[SelectorAttempt, ...]
    text_elsewhere: str = ""

    def has_heading(self, element: Element) -> bool:
        """Return whether a heading, or what wraps one, was kept, or stands directly above what was kept.

        The first of the highest level, and a first one that is wrapped, may be the name of the site.
        """
        if element in self.holders:
            return True
        heading = element if element.tag in _HEADINGS else element.select_one(_HEADING_SELECTOR)
        if heading is None:
            return False
        place = self._place_of(heading)
        if place.parent not in self.holders or not self._stands_above(place, heading.tag):
            return False
        return (heading.tag != "h1" and place == heading) or self._stands_below(place)

    def _place_of(self, heading: Element) -> Element:
        """Return the outermost element that holds a heading and nothing else, and stands in what was kept."""
        place = heading
        while isinstance(around := place.parent, Element) and around.tag in _WRAPPERS and around not in self.holders:
            if any(_says_something(each) for each in around.children if each != place):
                break
            place = around
        return place

    def _stands_above(self, place: Element, tag: str) -> bool:
        for follower in filter(_says_something, place.next_siblings):
            if isinstance(follower, Element) and follower.tag in _HEADINGS and follower.tag != "h1":
                return follower.tag > tag and self.has_heading(follower)
            return follower in self.holders
        return False

    def _stands_below(self, place: Element) -> bool:
        around = (place, *(each for each in place.ancestors if isinstance(each, Element)))
        return any(before in self.holders for each in around for before in each.previous_siblings)

    def below(self, title: str) -> Content:
        """Return the content without a first heading that says the title, or a part of it: that has its own field."""
        first, rest = self.blocks[:1], self.blocks[1:]
        heading = loose(first[0].text) if rest and _is_first_heading(first[0]) else ""
        if not heading or heading not in loose(title):
            return self
        return structs.replace(self, blocks=rest, holders=_holders(rest), text="\n".join(block.text for block in rest))


class _Selection(Struct, frozen=True):
    """The blocks that were kept out of those that were looked at, and how good they are likely to be."""

    blocks: tuple[Block, ...] = ()
    sure: float = 0.0
    types: Mapping[PageType, float] = msgspec.field(default_factory=lambda: dict.fromkeys(PageType, 1 / len(PageType)))
    marked: tuple[_Attempt, ...] = ()


def choose_content(page: Page, blocks: list[Block], elsewhere: tuple[str, ...] = ()) -> Content:
    """Choose the main content; `elsewhere` are texts that the page holds outside of its blocks, best first."""
    selection = _select(page, blocks[:MAX_BLOCKS]) if blocks else _Selection()
    if len(blocks) > MAX_BLOCKS:
        selection = structs.replace(selection, blocks=(*selection.blocks, *_lookalikes(selection.blocks, blocks)))
    text = "\n".join(block.text for block in selection.blocks)
    other = next((one for one in elsewhere if _continues(one, text, blocks)), "")
    in_blocks = _Attempt(_BLOCKS, "heuristic", Source.HEURISTIC, len(text))
    in_data = _Attempt(_ELSEWHERE, "data", Source.FRAMEWORK_DATA, max(map(len, elsewhere), default=0))
    attempts = [*selection.marked, in_blocks, in_data]
    if other:
        sure = confidence(Source.FRAMEWORK_DATA, _MAX_CONFIDENCE * min(count_words(other) / _FULL_WORDS, 1.0))
        return Content((), frozenset(), other, sure, selection.types, _attempts(attempts, in_data), other)
    chosen = next((attempt for attempt in selection.marked if attempt.holds), in_blocks)
    sure = confidence(chosen.source if text else Source.FALLBACK, selection.sure)
    holders = _holders(selection.blocks)
    return Content(selection.blocks, holders, text, sure, selection.types, _attempts(attempts, chosen))


def _select(page: Page, blocks: list[Block]) -> _Selection:
    arrays = BlockArrays.of(blocks)
    trained = content_model()
    columns = feature_columns(page, arrays)
    types = page_type_probabilities(trained.types, columns, arrays.tokens)
    columns |= trained.lexicon.columns(page_words(arrays)) | page_type_columns(types, len(blocks))
    scores = trained.blocks.scores(trained.blocks.matrix(columns))[:, 0]
    groups = Groups.of(arrays, columns)
    adjusted = adjusted_scores(scores, groups, columns, arrays.tokens, types)
    probabilities = probability(adjusted - _MENU * site_menus(page, arrays))
    cutoff = best_cutoff(probabilities, arrays.tokens)
    kept = cutoff.kept | companions(arrays, cutoff.kept) | is_note(arrays)
    evidence = cutoff_evidence(cutoff, probabilities, columns, arrays.tokens, types)
    return _Selection(
        tuple(block for block, is_kept in zip(blocks, kept.tolist(), strict=True) if is_kept),
        expected_f1(trained.sure, evidence),
        _page_types(types, page.url),
        tuple(_marked_elements(arrays, cutoff.kept)),
    )


def _says_something(node: Node) -> bool:
    if isinstance(node, Text):
        return not node.data.isspace()
    return isinstance(node, Element) and not is_permalink(node) and any(text.strip() for text in node.strings)


def _is_first_heading(block: Block) -> bool:
    box = block.box
    while box.tag in INLINE and box.parent is not None:
        box = box.parent
    return box.tag == "h1"


def _lookalikes(kept: Iterable[Block], blocks: list[Block]) -> Iterator[Block]:
    """Find the blocks beyond the last that was looked at of which most that look like them were kept."""
    looks = Counter(_look(block) for block in kept)
    all_looks = Counter(_look(block) for block in blocks[:MAX_BLOCKS])
    return (block for block in blocks[MAX_BLOCKS:] if 2 * looks[_look(block)] > all_looks[_look(block)])


def _look(block: Block) -> tuple[str, ...]:
    above = block.box.parent
    return (block.box.tag, block.box.key, *((above.tag, above.key) if above is not None else ()))


def _continues(other: str, text: str, blocks: list[Block]) -> bool:
    words = count_words(text)
    if words >= _MAX_TEASER or count_words(other) <= _TIMES_AS_MANY * words + _MORE_WORDS:
        return False
    if words < _HARDLY_ANY:
        return True
    kept = Counter(words_in(text.lower()))
    other_words = words_in(other.lower())
    begun = Counter(other_words[: _TIMES_AS_MANY * words])
    if (kept & Counter(other_words)).total() < _SHARE_WITHIN * words or (kept & begun).total() < _SHARE_BEFORE * words:
        return False
    rest = Counter(other_words) - kept
    shown = Counter(word for block in blocks for word in words_in(block.text.lower()))
    return (rest & (shown - kept)).total() < _SHARE_WITHIN * rest.total()


def _holders(blocks: Iterable[Block]) -> frozenset[Element]:
    holders = set[Element]()
    for block in blocks:
        for node in block.nodes:
            above = node.parent
            while isinstance(above, Element) and above not in holders:
                holders.add(above)
                above = above.parent
    return frozenset(holders)


class _Attempt(Struct, frozen=True):
    """A attempt to find the content: `length` in characters, `holds` whether it confirms the choice among blocks."""

    selector: str
    name: str
    source: Source
    length: int = 0
    holds: bool = False


def _marked_elements(arrays: BlockArrays, kept: NDArray[np.bool_]) -> list[_Attempt]:
    """Look at the largest of the elements by which a page itself marks its content."""
    lengths = np.array([len(block.text) + 1 for block in arrays.blocks], np.float32)
    held = arrays.sums(lengths)
    chosen = arrays.sums(lengths * kept)
    attempts = [
        _Attempt("main", "main", Source.SELECTOR_MATCH),
        _Attempt("article", "article", Source.SELECTOR_MATCH),
        _Attempt('[role="main"]', "role_main", Source.SELECTOR_MATCH),
    ]
    whole = float(chosen[0]) if len(chosen) else 0.0
    for at, attempt in enumerate(attempts):
        if boxes := _boxes_named(arrays, attempt.name):
            best = max(boxes, key=lambda index: float(held[index]))
            holds = float(chosen[best]) >= max(_CONFIRMED_SHARE * whole, _KEPT_SHARE * float(held[best]), 1.0)
            attempts[at] = structs.replace(attempt, length=int(held[best]), holds=holds)
    return attempts


def _attempts(attempts: list[_Attempt], chosen: _Attempt) -> tuple[SelectorAttempt, ...]:
    """Write the attempts down, with the reason why each was skipped but one."""
    return tuple(_selector_attempt(attempt, chosen) for attempt in attempts)


def _selector_attempt(attempt: _Attempt, chosen: _Attempt) -> SelectorAttempt:
    selected = attempt.selector == chosen.selector
    reason = f"{chosen.selector} is the surer choice" if attempt.length else "not there or empty"
    return SelectorAttempt(
        selector=attempt.selector,
        source=attempt.name,
        matched=attempt.length > 0,
        content_length=attempt.length,
        confidence_score=BASELINES[attempt.source],
        selected=selected,
        skip_reason=UNSET if selected else reason,
    )


def _boxes_named(arrays: BlockArrays, name: str) -> list[int]:
    if name != "role_main":
        return arrays.named(f"<{name}>")
    return [at for at in arrays.named("main") if arrays.boxes[at].element.attr("role") == "main"]


def _page_types(trained: Scores, url: str) -> Mapping[PageType, float]:
    """Name the probabilities, with those that the address speaks for."""
    shown = _type_of_address(url)
    rest = 1 - (_BY_ADDRESS if shown is not None else 0)
    probabilities = {kind: float(value) * rest for kind, value in zip(TRAINED_TYPES, trained.tolist(), strict=True)}
    if shown is not None:
        probabilities[shown] = _BY_ADDRESS
    return probabilities


def _type_of_address(url: str) -> PageType | None:
    try:
        parts = urlsplit(url)
        query_names = {name.lower() for name, value in parse_qsl(parts.query, max_num_fields=100) if value}
    except ValueError:
        return None
    if not parts.path.strip("/") and not parts.query:
        return PageType.HOME
    return PageType.SEARCH if _SEARCH.search(parts.path.lower()) and query_names & _QUERY_NAMES else None
