"""Prunes the tree of a page to its main content."""

from __future__ import annotations

from collections.abc import Container, Sequence
from collections.abc import Set as AbstractSet

from turbohtml import Element, Node, Text

from actors.extraction.decide.content.content import Content
from actors.extraction.write.images import is_of_content
from actors.extraction.write.verbatim import is_own

_MAX_PICTURES = 5_000
"""A page of more pictures is no text with pictures; looking at each costs 10 µs."""

_STAY = frozenset({"br", "hr", "wbr"})
_CELLS = frozenset({"td", "th"})
_HEADINGS = frozenset({"h2", "h3", "h4", "h5", "h6"})
_INLINE = frozenset({"a", "b", "code", "em", "font", "i", "span", "strong"})
_PICTURES = frozenset({"a", "amp-img", "center", "div", "figure", "img", "noscript", "p", "picture", "span"})


def prune(root: Element, content: Content, hidden: Container[object]) -> None:
    """Leave of a tree the texts that were kept, with the pictures, rules and headings that stand among them.

    `hidden` are elements that nobody sees.
    """
    kept: set[Node] = {node for block in content.blocks for node in block.nodes}
    holders = content.holders
    pictures = _PICTURES if len(root.select("img")) <= _MAX_PICTURES else frozenset[str]()
    stack = [root]
    while stack:
        children = stack.pop().children
        for place, child in enumerate(children):
            if isinstance(child, Text):
                if child not in kept and not child.data.isspace():
                    child.extract()
            elif not isinstance(child, Element):
                child.extract()
            elif child in holders:
                stack.append(child)
            elif child.tag in _STAY or is_own(child):
                continue
            elif child in hidden or not (
                (child.tag in pictures and is_of_content(child)) or _leads(child, children, place, holders)
            ):
                _remove(child)


def _leads(child: Element, children: Sequence[Node], place: int, holders: AbstractSet[Element]) -> bool:
    """Return whether a heading stands directly above what was kept."""
    if child.tag not in _HEADINGS:
        return False
    for later in range(place + 1, len(children)):
        follower = children[later]
        if isinstance(follower, Element) and follower.tag not in _STAY:
            return follower in holders and follower.tag not in _HEADINGS
        if isinstance(follower, Text) and not follower.data.isspace():
            return False
    return False


def _remove(child: Element) -> None:
    if child.tag in _CELLS:
        child.clear()  # a row keeps its columns
    elif child.tag in _INLINE and child.text.isspace():
        child.replace_with(Text(child.text))
    else:
        child.extract()
