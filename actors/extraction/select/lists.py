"""Reads the lists of records of a page (cards, results, posts), where its elements repeat."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import NamedTuple

from msgspec import Struct
from turbohtml import Element, Node

from actors.extraction.decide.content import Content
from actors.extraction.parse.tree import Page
from actors.extraction.select import records
from actors.extraction.select.records import table_of_records
from actors.extraction.select.roles import signature
from actors.extraction.select.words import words
from protocol.page import PageType, RecordList

MAX_LISTS = 5
MAX_ROWS = 500
_MAX_GROUPS = 20
_MAX_CHARS = 3_000_000
"""Groups that are read, and characters that are counted for their members, one for each group."""

_MIN_ROWS = 3

_KEPT_SHARE = 0.3
"""Share of the members of a group that must be main content, or the group is none: a choice by blocks loses some."""

_LISTING = (PageType.LISTING, PageType.COLLECTION, PageType.SEARCH)
_WITH_RECORDS = (*_LISTING, PageType.FORUM, PageType.HOME)
_SURE_LISTING = 0.5
_UNLIKELY = 0.2
"""Below it a page is one of those that are no list: what they repeat are sections, or leads elsewhere."""

_MIN_GRID = 4
_RICH = 3
_ASIDE = frozenset({"aside", "header", "dialog"})

_MAX_CAPTION_CHARS = 200
_HEADINGS = "h1,h2,h3,h4,h5,h6,legend"
_CAPTION_LEVELS = 3
_CAPTION_SIBLINGS = 4

_MIN_MEMBERS = 3
_MAX_MEMBERS = 1_000
_MAX_DEPTH = 100
"""Deeper elements are no records: pages that people write have at most some sixty levels."""

_OUTSIDE_CONTENT = frozenset(
    {"head", "nav", "footer", "script", "style", "template", "svg", "math", "iframe", "select"}
)
"""Elements in which nothing is looked for: what repeats there is no record of the page."""

_MEMBERS = ("article", "div", "li", "section", "a", "tr", "dl", "figure", "tbody")
_KIND_SELECTORS = {
    "link": "a[href]",
    "picture": "img,picture",
    "heading": "h1,h2,h3,h4,h5,h6,[class*=title],[class*=Title]",
    "price": "[class*=price],[class*=Price],[itemprop=price]",
    "time": "time,[class*=date],[class*=time],[class*=Date]",
    "author": "[class*=author],[class*=Author],[class*=username],[rel=author],[itemprop=author]",
}
_RECORD_KINDS = frozenset({"link", "price", "time", "author"})
"""Kinds of which a record has at least one: headings and pictures stand in the sections of any page."""

_SAMPLE = 6
_MOST_MEMBERS = 0.6
_MIN_CHARS = 8
_MIN_LINK_CHARS = 25
"""Characters that records of a bare link have on average: shorter ones are menus, tags and letters of an index."""

_FILLED = 0.4
"""Share of the text of an element that a group within it holds, when the element is there for the group."""

_MAX_MEMBER_CHARS = 5_000


def record_lists(page: Page, content: Content) -> list[RecordList]:
    """Return the lists of records of the main content, the weightiest first: at most 5 of 500 rows and 14 columns.

    The same role has the same column in every row; a column is called by its role, else by the class of its elements.
    """
    if content.page_types and _probability(content, _WITH_RECORDS) < _UNLIKELY:
        return []
    lists: list[RecordList] = []
    taken: set[Element] = set()
    for repeat in _by_weight(page, content)[:_MAX_GROUPS]:
        if len(lists) == MAX_LISTS:
            break
        if any(member in taken for member in repeat.members):
            continue
        columns, rows = table_of_records([records.read_record(member, page) for member in repeat.members[:MAX_ROWS]])
        if len(rows) >= _MIN_ROWS and len(columns) > 1:
            lists.append(RecordList(columns=columns, rows=rows, caption=_caption(page, repeat)))
            taken.update(_elements_of(repeat))
    return lists


def _by_weight(page: Page, content: Content) -> list[_Repeat]:
    whole = _probability(content, _LISTING) >= _SURE_LISTING
    groups = _repeats(page.root, None if whole else content.holders)
    if not groups:
        return []
    kinds = _ContentKinds(page.root)
    weighed: list[_WeighedRepeat] = []
    left = float(_MAX_CHARS)
    for repeat in groups:
        kept = sum(1 for member in repeat.members if member in content.holders) >= _KEPT_SHARE * len(repeat.members)
        if left < 0 or _in_data_table(repeat) or not (kept or (whole and _is_large(repeat))):
            continue
        held = kinds.of(repeat.members)
        if kept or _is_grid(repeat, held):
            weighed.append(_weigh(repeat, held))
            left -= weighed[-1].chars
    weighed = [group for group in weighed if group.weight > 0]
    outer = _section_groups(weighed)
    inner = [group for place, group in enumerate(weighed) if place not in outer]
    return [group.repeat for group in sorted(inner, key=lambda group: -group.weight)]


def _is_large(repeat: _Repeat) -> bool:
    return len(repeat.members) >= _MIN_GRID


def _probability(content: Content, kinds_of_page: tuple[PageType, ...]) -> float:
    return sum(content.page_types.get(kind, 0.0) for kind in kinds_of_page)


def _in_data_table(repeat: _Repeat) -> bool:
    if repeat.members[0].tag not in ("tr", "tbody"):
        return False
    table = repeat.holder.closest("table")
    return table is not None and table.select_one("th") is not None


def _is_grid(repeat: _Repeat, held: AbstractSet[str]) -> bool:
    """Return whether they are a grid of cards that a listing is made for, though none of its short texts was kept."""
    if "link" not in held or not ("price" in held or len(held) >= _RICH):
        return False
    return not any(
        outer.tag in _ASIDE for outer in islice(repeat.holder.ancestors, _MAX_DEPTH) if isinstance(outer, Element)
    )


def _elements_of(repeat: _Repeat) -> Iterator[Element]:
    """Yield all elements within the members, and those that they stand in."""
    for member in repeat.members:
        yield member
        yield from member.iter_elements()
    yield from (outer for outer in repeat.members[0].ancestors if isinstance(outer, Element))


def _caption(page: Page, repeat: _Repeat) -> str:
    place: Element = repeat.holder
    for _ in range(_CAPTION_LEVELS):
        before = [node for node, _ in zip(place.previous_siblings, range(_CAPTION_SIBLINGS), strict=False)]
        for node in before:
            if isinstance(node, Element) and (heading := _heading(node)) is not None:
                return words(heading, page.hidden, _MAX_CAPTION_CHARS)
        if not isinstance(place.parent, Element):
            break
        place = place.parent
    return ""


def _heading(node: Element) -> Element | None:
    if node.tag in _HEADINGS.split(","):
        return node
    inside = node.select(_HEADINGS)
    return inside[-1] if inside else None


class _Repeat(Struct, frozen=True):
    """Elements that look alike, in the order of the page, and the element that holds all of them."""

    holder: Element
    members: tuple[Element, ...]


def _repeats(root: Element, within: Collection[Element] | None = None) -> list[_Repeat]:
    """Find every group of at least three elements that are alike by tag and first class, and so are their parents.

    They are children of one element, or of its children (rows of a grid). With `within` only the children of those
    elements are looked at. One pass over the tree: 1 µs for every element that is looked at.
    """
    alike: dict[tuple[Node, str, str], list[Element]] = {}
    above: dict[Node, tuple[Node, str] | None] = {}
    for element in root.iter_elements(_MEMBERS):
        parent = element.parent
        if parent is None:
            continue
        if parent not in above:
            above[parent] = _place_of(parent, within)
        if (place := above[parent]) is not None:
            key = (*place, signature(element.tag, element.attr("class") or ""))
            alike.setdefault(key, []).append(element)
    groups = (
        _Repeat(_holder(members), tuple(members[:_MAX_MEMBERS])) for members in alike.values() if _are_enough(members)
    )
    return [group for group in groups if _is_of_content(group.holder)]


def _place_of(parent: Node, within: Collection[Element] | None) -> tuple[Node, str] | None:
    if not isinstance(parent, Element) or (within is not None and parent not in within):
        return None
    return (parent.parent or parent), signature(parent.tag, parent.attr("class") or "")


def _are_enough(members: list[Element]) -> bool:
    return len(members) >= _MIN_MEMBERS


def _is_of_content(holder: Element) -> bool:
    around = [holder, *islice(holder.ancestors, _MAX_DEPTH)]
    tags = {element.tag for element in around if isinstance(element, Element)}
    return len(around) <= _MAX_DEPTH and not _OUTSIDE_CONTENT & tags


class _ContentKinds:
    """Knows what the elements of a page hold: links, pictures, headings, prices, times, authors."""

    def __init__(self, root: Element) -> None:
        """Look through a page once."""
        self._holders = {kind: _holders(root.select(selector)) for kind, selector in _KIND_SELECTORS.items()}

    def of(self, members: Sequence[Element]) -> set[str]:
        """Return the kinds of things that most members hold, or are."""
        least = _MOST_MEMBERS * len(members)
        return {
            kind
            for kind, holders in self._holders.items()
            if sum(1 for member in members if member in holders) >= least
        }


def _holders(elements: Sequence[Element]) -> set[Node]:
    holders: set[Node] = set()
    for element in elements:
        place: Node | None = element
        while place is not None and place not in holders:
            holders.add(place)
            place = place.parent
    return holders


class _WeighedRepeat(NamedTuple):
    """A group, how much of the page's matter it holds, and how many characters one of its members."""

    weight: float
    chars: float
    repeat: _Repeat


def _weigh(repeat: _Repeat, held: AbstractSet[str]) -> _WeighedRepeat:
    """Return how much of the page's matter a group of records holds; 0 for a group that holds no records.

    `held` are the kinds of what it holds: records have several (a link and a picture, a price, …), or link a long text.
    """
    members = repeat.members
    sample = members[:: max(len(members) // _SAMPLE, 1)][:_SAMPLE]
    chars = sum(len(member.text) for member in sample) / len(sample)
    if not held & _RECORD_KINDS or chars < _MIN_CHARS or (held == {"link"} and chars < _MIN_LINK_CHARS):
        return _WeighedRepeat(0.0, chars, repeat)
    matter = min(chars, _MAX_MEMBER_CHARS) * len(members)
    return _WeighedRepeat(matter * math.log2(1 + len(members)) * math.sqrt(1 + len(held)), chars, repeat)


def _section_groups(groups: Sequence[_WeighedRepeat]) -> set[int]:
    """Return the places of the groups whose members mostly consist of the members of another: parts of a page."""
    places: dict[Node, int] = {member: place for place, group in enumerate(groups) for member in group.repeat.members}
    filled: dict[int, set[Node]] = {}
    lengths: dict[Node, int] = {}
    for group in groups:
        chars = group.chars * len(group.repeat.members)
        for outer in islice(group.repeat.members[0].ancestors, _MAX_DEPTH):
            if (place := places.get(outer)) is None:
                continue
            if outer not in lengths:
                lengths[outer] = len(outer.text)
            if chars >= _FILLED * lengths[outer]:
                filled.setdefault(place, set()).add(outer)
    return {place for place, outer in filled.items() if len(outer) >= len(groups[place].repeat.members) / 2}


def _holder(members: list[Element]) -> Element:
    first, last = members[0].parent, members[-1].parent
    if isinstance(first, Element) and first != last and isinstance(first.parent, Element):
        return first.parent
    return first if isinstance(first, Element) else members[0]
