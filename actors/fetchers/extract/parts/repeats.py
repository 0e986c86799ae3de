"""Finds what a page repeats: elements that look alike by tag, class and place, such as cards, posts and results."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from turbohtml import Element, Node

MIN_MEMBERS = 3
MAX_MEMBERS = 1_000

_APART = frozenset({"head", "nav", "footer", "script", "style", "template", "svg", "math", "iframe", "select"})
"""Elements in which nothing is looked for: what repeats there is no record of the page."""

_MEMBERS = ("article", "div", "li", "section", "a", "tr", "dl", "figure", "tbody")
_STATE = re.compile(
    r"^(?:first|last|odd|even|alt|active|current|selected|new|hot|featured|promoted|sticky|is-.*|has-.*|js-.*|.*clone[sd]?"
    r"|hidden|visible|show|open|closed|hentry|lazy.*|animated?|wow|clearfix|row|status-.*|post-?)$"
)
"""Classes that tell the state of an element, or its place among others, and not its kind."""

_MAX_DEPTH = 300
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
    return [group for group in groups if not _APART.intersection(_tags_around(group.holder))]


def _above(parent: Node, within: Collection[Element] | None) -> tuple[Node, str] | None:
    if not isinstance(parent, Element) or (within is not None and parent not in within):
        return None
    return (parent.parent or parent), signature(parent.tag, parent.attr("class") or "")


def _enough(members: list[Element]) -> bool:
    return len(members) >= MIN_MEMBERS


def _tags_around(element: Element) -> Iterator[str]:
    yield element.tag
    for outer in islice(element.ancestors, _MAX_DEPTH):
        if isinstance(outer, Element):
            yield outer.tag


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


def weight(members: Sequence[Element], said: AbstractSet[str]) -> float:
    """Tell how much of the page's matter a group of records holds; 0 for a group that holds no records.

    `said` are its kinds: records say more than one (a link and a picture, a price, a date, …), or link a long text.
    """
    sample = _sample(members)
    chars = sum(min(len(member.text), _MAX_MEMBER_CHARS) for member in sample) / len(sample)
    if not said & _TELLING or chars < _MIN_CHARS or (said == {"link"} and chars < _MIN_LINK_CHARS):
        return 0.0
    return chars * len(members) * math.log2(1 + len(members)) * math.sqrt(1 + len(said))


def kinds(members: Sequence[Element]) -> set[str]:
    """Give the kinds of things that most members hold: link, picture, heading, price, time, author."""
    sample = _sample(members)
    held = [_kinds(member) for member in sample]
    return {kind for kind in _KINDS if sum(kind in one for one in held) >= _MOSTLY * len(sample)}


def _sample(members: Sequence[Element]) -> Sequence[Element]:
    return members[:: max(len(members) // _SAMPLE, 1)][:_SAMPLE]


def _kinds(member: Element) -> set[str]:
    held = {kind for kind, selector in _KINDS.items() if member.select_one(selector) is not None}
    return held | {"link"} if member.tag == "a" else held


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
