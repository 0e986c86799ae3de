"""Finds what a page repeats: elements that look alike by tag, class and place, such as cards, posts and results."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from turbohtml import Element, Node

MIN_MEMBERS = 3
MAX_MEMBERS = 1_000
MAX_DEPTH = 100
"""Deeper elements are no records: pages that people write have at most some sixty levels."""

_APART = frozenset({"head", "nav", "footer", "script", "style", "template", "svg", "math", "iframe", "select"})
"""Elements in which nothing is looked for: what repeats there is no record of the page."""

_MEMBERS = ("article", "div", "li", "section", "a", "tr", "dl", "figure", "tbody")
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

_SAMPLE = 6
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
    """Find every group of at least three elements that are alike by tag and first class, and so are their parents.

    They are children of one element, or of its children (rows of a grid). With `within` only the children of those
    elements are looked at. One pass over the tree: 1 µs for every element that is looked at.
    """
    found: dict[tuple[Node, str, str], list[Element]] = {}
    above: dict[Node, tuple[Node, str] | None] = {}
    for element in root.iter_elements(_MEMBERS):
        parent = element.parent
        if parent is None:
            continue
        if parent not in above:
            above[parent] = _above(parent, within)
        if (place := above[parent]) is not None:
            key = (*place, signature(element.tag, element.attr("class") or ""))
            found.setdefault(key, []).append(element)
    groups = (Repeat(_holder(members), tuple(members[:MAX_MEMBERS])) for members in found.values() if _enough(members))
    return [group for group in groups if _is_of_content(group.holder)]


def _above(parent: Node, within: Collection[Element] | None) -> tuple[Node, str] | None:
    if not isinstance(parent, Element) or (within is not None and parent not in within):
        return None
    return (parent.parent or parent), signature(parent.tag, parent.attr("class") or "")


def _enough(members: list[Element]) -> bool:
    return len(members) >= MIN_MEMBERS


def _is_of_content(holder: Element) -> bool:
    around = [holder, *islice(holder.ancestors, MAX_DEPTH)]
    tags = {element.tag for element in around if isinstance(element, Element)}
    return len(around) <= MAX_DEPTH and not _APART & tags


class Kinds:
    """Tells what the elements of a page hold: links, pictures, headings, prices, times, authors."""

    def __init__(self, root: Element) -> None:
        """Look through a page once."""
        self._holders = {kind: _holders(root.select(selector)) for kind, selector in _KINDS.items()}

    def of(self, members: Sequence[Element]) -> set[str]:
        """Return the kinds of things that most members hold, or are."""
        least = _MOSTLY * len(members)
        return {
            kind
            for kind, holders in self._holders.items()
            if sum(1 for member in members if member in holders) >= least
        }


def _holders(elements: Sequence[Element]) -> set[Node]:
    found: set[Node] = set()
    for element in elements:
        place: Node | None = element
        while place is not None and place not in found:
            found.add(place)
            place = place.parent
    return found


class Weighed(NamedTuple):
    """A group, how much of the page's matter it holds, and how many characters one of its members."""

    weight: float
    chars: float
    repeat: Repeat


def weighed(repeat: Repeat, said: AbstractSet[str]) -> Weighed:
    """Return how much of the page's matter a group of records holds; 0 for a group that holds no records.

    `said` are its kinds: records say more than one (a link and a picture, a price, a date, …), or link a long text.
    """
    members = repeat.members
    sample = members[:: max(len(members) // _SAMPLE, 1)][:_SAMPLE]
    chars = sum(len(member.text) for member in sample) / len(sample)
    if not said & _TELLING or chars < _MIN_CHARS or (said == {"link"} and chars < _MIN_LINK_CHARS):
        return Weighed(0.0, chars, repeat)
    matter = min(chars, _MAX_MEMBER_CHARS) * len(members)
    return Weighed(matter * math.log2(1 + len(members)) * math.sqrt(1 + len(said)), chars, repeat)


def sections(groups: Sequence[Weighed]) -> set[int]:
    """Return the places of the groups whose members mostly consist of the members of another: parts of a page."""
    places: dict[Node, int] = {member: place for place, group in enumerate(groups) for member in group.repeat.members}
    filled: dict[int, set[Node]] = {}
    lengths: dict[Node, int] = {}
    for group in groups:
        chars = group.chars * len(group.repeat.members)
        for outer in islice(group.repeat.members[0].ancestors, MAX_DEPTH):
            if (place := places.get(outer)) is None:
                continue
            if outer not in lengths:
                lengths[outer] = len(outer.text)
            if chars >= _FILLED * lengths[outer]:
                filled.setdefault(place, set()).add(outer)
    return {place for place, outer in filled.items() if len(outer) >= len(groups[place].repeat.members) / 2}


@lru_cache(maxsize=4_096)
def signature(tag: str, classes: str) -> str:
    """Name the kind of an element: its tag, and its first class that tells neither number nor state."""
    names = (_DIGITS.sub("-", name).strip("-_") for name in islice(classes.split(), 8))
    return next((f"{tag}.{name}" for name in names if name and not _STATE.match(name)), tag)


def _holder(members: list[Element]) -> Element:
    first, last = members[0].parent, members[-1].parent
    if isinstance(first, Element) and first != last and isinstance(first.parent, Element):
        return first.parent
    return first if isinstance(first, Element) else members[0]
