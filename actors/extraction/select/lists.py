"""Reads the lists of records of a page (cards, results, posts) as rows with the same columns."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import islice

from turbohtml import Element

from actors.extraction.decide.content.content import Content
from actors.extraction.parse.tree import Page
from actors.extraction.select import records
from actors.extraction.select.columns import table
from actors.extraction.select.repeats import MAX_DEPTH, Kinds, Repeat, Weighed, repeats, sections, weighed
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
_MAYBE = 0.2
"""Below it a page is one of those that are no list: what they repeat are sections, or leads elsewhere."""

_MIN_GRID = 4
_RICH = 3
_ASIDE = frozenset({"aside", "header", "dialog"})

_MAX_CAPTION_CHARS = 200
_HEADINGS = "h1,h2,h3,h4,h5,h6,legend"
_CAPTION_LEVELS = 3
_CAPTION_SIBLINGS = 4


def record_lists(page: Page, content: Content) -> list[RecordList]:
    """Return the lists of records of the main content, the weightiest first: at most 5 of 500 rows and 14 columns.

    The same role has the same column in every row; a column is called by its role, else by the class of its elements.
    """
    if content.page_types and _likely(content, _WITH_RECORDS) < _MAYBE:
        return []
    found: list[RecordList] = []
    taken: set[Element] = set()
    for repeat in _by_weight(page, content)[:_MAX_GROUPS]:
        if len(found) == MAX_LISTS:
            break
        if any(member in taken for member in repeat.members):
            continue
        columns, rows = table([records.read(member, page) for member in repeat.members[:MAX_ROWS]])
        if len(rows) >= _MIN_ROWS and len(columns) > 1:
            found.append(RecordList(columns=columns, rows=rows, caption=_caption(page, repeat)))
            taken.update(_around(repeat))
    return found


def _by_weight(page: Page, content: Content) -> list[Repeat]:
    whole = _likely(content, _LISTING) >= _SURE_LISTING
    groups = repeats(page.root, None if whole else content.holders)
    if not groups:
        return []
    kinds = Kinds(page.root)
    found: list[Weighed] = []
    left = float(_MAX_CHARS)
    for repeat in groups:
        kept = sum(1 for member in repeat.members if member in content.holders) >= _KEPT_SHARE * len(repeat.members)
        if left < 0 or _in_data_table(repeat) or not (kept or (whole and _is_large(repeat))):
            continue
        said = kinds.of(repeat.members)
        if kept or _is_grid(repeat, said):
            found.append(weighed(repeat, said))
            left -= found[-1].chars
    found = [group for group in found if group.weight > 0]
    outer = sections(found)
    inner = [group for place, group in enumerate(found) if place not in outer]
    return [group.repeat for group in sorted(inner, key=lambda group: -group.weight)]


def _is_large(repeat: Repeat) -> bool:
    return len(repeat.members) >= _MIN_GRID


def _likely(content: Content, kinds_of_page: tuple[PageType, ...]) -> float:
    return sum(content.page_types.get(kind, 0.0) for kind in kinds_of_page)


def _in_data_table(repeat: Repeat) -> bool:
    if repeat.members[0].tag not in ("tr", "tbody"):
        return False
    table = repeat.holder.closest("table")
    return table is not None and table.select_one("th") is not None


def _is_grid(repeat: Repeat, said: AbstractSet[str]) -> bool:
    """Tell a grid of cards that a listing is made for, though none of its short texts was kept."""
    if "link" not in said or not ("price" in said or len(said) >= _RICH):
        return False
    return not any(
        outer.tag in _ASIDE for outer in islice(repeat.holder.ancestors, MAX_DEPTH) if isinstance(outer, Element)
    )


def _around(repeat: Repeat) -> Iterator[Element]:
    """Return all elements within the members, and those that they stand in."""
    for member in repeat.members:
        yield member
        yield from member.iter_elements()
    yield from (outer for outer in repeat.members[0].ancestors if isinstance(outer, Element))


def _caption(page: Page, repeat: Repeat) -> str:
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
