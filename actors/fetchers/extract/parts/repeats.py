"""Finds what a page repeats: elements that look alike by tag, class and place, such as cards, posts and results."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from turbohtml import Element, Node

MIN_MEMBERS = 3
MAX_MEMBERS = 1_000

_APART = frozenset({"head", "nav", "footer", "script", "style", "template", "svg", "math", "iframe", "select"})
"""Elements in which nothing is looked for: what repeats there is no record of the page."""

_MEMBERS = frozenset({"article", "div", "li", "section", "a", "tr", "dl", "figure", "span", "tbody"})
_STATE = re.compile(
    r"^(?:first|last|odd|even|alt|active|current|selected|new|hot|featured|promoted|sticky|is-.*|has-.*|js-.*|.*clone[sd]?"
    r"|hidden|visible|show|open|closed|hentry|lazy.*|animated?|wow|clearfix|row|status-.*|post-?)$"
)
"""Classes that tell the state of an element, or its place among others, and not its kind."""

_DIGITS = re.compile(r"[-_]*\d+[-_]*")


_KINDS = {
    "link": "a[href]",
    "picture": "img,picture",
    "heading": "h1,h2,h3,h4,h5,h6,[class*=title],[class*=Title]",
    "price": "[class*=price],[class*=Price],[itemprop=price]",
    "time": "time,[class*=date],[class*=time],[class*=Date]",
    "author": "[class*=author],[class*=Author],[class*=username],[rel=author],[itemprop=author]",
}
_TELLING = frozenset({"link", "price", "time", "author"})
"""Kinds of which a record has at least one: headings and pictures stand in the sections of any page."""

_SAMPLE = 8
_MOSTLY = 0.6
_MIN_CHARS = 8
_MIN_LINK_CHARS = 25
"""Characters that records of a bare link have on average: shorter ones are menus, tags and letters of an index."""

_FILLED = 0.4
"""Share of the text of an element that a group within it holds, when the element is there for the group."""

_MAX_MEMBER_CHARS = 5_000


@dataclass(frozen=True, slots=True)
class Repeat:
    """Elements that look alike, in the order of the page, and the element that holds all of them."""

    holder: Element
    members: tuple[Element, ...]


def repeats(root: Element, within: Collection[Element] | None = None) -> list[Repeat]:
    """Find every group of at least three elements with the same way down from the root, by tag and first class.

    They are children of one element, or of its children (rows of a grid). With `within` only the children of those
    elements are looked at. One pass over the tree: 1 µs for every element that is looked at.
    """
    found: dict[tuple[Element, int], list[Element]] = {}
    ways: dict[Node, int] = {root: 0}
    numbers: dict[tuple[int, str], int] = {}
    for element in root.iter_elements():
        parent = element.parent
        if parent is None or (above := ways.get(parent)) is None or (tag := element.tag) in _APART:
            continue
        way = numbers.setdefault((above, signature(tag, element.attr("class") or "")), len(numbers) + 1)
        if within is None or element in within:
            ways[element] = way
        if (tag in _MEMBERS or "-" in tag) and isinstance(holder := parent.parent, Element):
            found.setdefault((holder, way), []).append(element)
    return [
        Repeat(_holder(members, holder), tuple(members[:MAX_MEMBERS]))
        for (holder, _), members in found.items()
        if len(members) >= MIN_MEMBERS
    ]


def sections(groups: Sequence[tuple[float, Repeat]]) -> set[int]:
    """Give the places of the groups whose members mostly consist of the members of another: parts of a page."""
    places: dict[Node, int] = {member: place for place, (_, repeat) in enumerate(groups) for member in repeat.members}
    filled: dict[int, set[Node]] = {}
    for _, repeat in groups:
        chars = sum(len(member.text) for member in repeat.members)
        for outer in repeat.members[0].ancestors:
            if (place := places.get(outer)) is not None and chars >= _FILLED * len(outer.text):
                filled.setdefault(place, set()).add(outer)
    return {place for place, outer in filled.items() if len(outer) >= len(groups[place][1].members) / 2}


def weight(members: Sequence[Element]) -> float:
    """Tell how much of the page's matter a group of records holds; 0 for a group that holds no records.

    Records say more than one kind of thing (a link and a picture, a price, a date, …), or at least link a long text.
    """
    sample = members[:: max(len(members) // _SAMPLE, 1)][:_SAMPLE]
    common = kinds(members)
    chars = sum(min(len(member.text), _MAX_MEMBER_CHARS) for member in sample) / len(sample)
    if not common & _TELLING or chars < _MIN_CHARS or (common == {"link"} and chars < _MIN_LINK_CHARS):
        return 0.0
    return chars * len(members) * math.log2(1 + len(members)) * math.sqrt(1 + len(common))


def kinds(members: Sequence[Element]) -> set[str]:
    """Give the kinds of things that most members hold: link, picture, heading, price, time, author."""
    sample = members[:: max(len(members) // _SAMPLE, 1)][:_SAMPLE]
    held = [_kinds(member) for member in sample]
    return {kind for kind in _KINDS if sum(kind in one for one in held) >= _MOSTLY * len(sample)}


def _kinds(member: Element) -> set[str]:
    held = {kind for kind, selector in _KINDS.items() if member.select_one(selector) is not None}
    return held | {"link"} if member.tag == "a" else held


@lru_cache(maxsize=4_096)
def signature(tag: str, classes: str) -> str:
    """Name the kind of an element: its tag, and its first class that tells neither number nor state."""
    names = (_DIGITS.sub("-", name).strip("-_") for name in islice(classes.split(), 8))
    return next((f"{tag}.{name}" for name in names if name and not _STATE.match(name)), tag)


def _holder(members: list[Element], holder: Element) -> Element:
    first = members[0].parent
    return first if isinstance(first, Element) and members[-1].parent == first else holder
