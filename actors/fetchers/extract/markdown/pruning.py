"""Prunes the tree of a page to its main content."""

from __future__ import annotations

from collections.abc import Container, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice

from turbohtml import Element, Node, Text

from actors.fetchers.extract.choice.content import Content
from actors.fetchers.extract.markdown.images import is_of_content

_STAY = frozenset({"br", "hr", "wbr"})
_CELLS = frozenset({"td", "th"})
_HEADINGS = frozenset({"h2", "h3", "h4", "h5", "h6"})
_INLINE = frozenset({"a", "b", "code", "em", "font", "i", "span", "strong"})
_PICTURES = frozenset({"a", "amp-img", "center", "div", "figure", "img", "noscript", "p", "picture", "span"})


def prune(root: Element, content: Content, own: Container[object], hidden: Container[object]) -> None:
    """Leave of a tree the texts that were kept, with the pictures, rules and headings that stand among them.

    `own` are elements that stay as they are, `hidden` those that nobody sees.
    """
    kept: set[Node] = {node for block in content.blocks for node in block.nodes}
    holders = content.holders
    stack = [root]
    while stack:
        holder = stack.pop()
        children = holder.children
        for place, child in enumerate(children):
            if isinstance(child, Text):
                if child not in kept and not child.data.isspace():
                    child.extract()
            elif not isinstance(child, Element):
                child.extract()
            elif child in holders:
                stack.append(child)
            elif (
                child not in own
                and not _stays(child, hidden)
                and not (child not in hidden and _leads(child, children, place, holders))
            ):
                _remove(child)


def _stays(child: Element, hidden: Container[object]) -> bool:
    tag = child.tag
    return tag in _STAY or (tag in _PICTURES and child not in hidden and is_of_content(child))


def _leads(child: Element, children: Sequence[Node], place: int, holders: AbstractSet[Element]) -> bool:
    """Tell whether a heading stands directly above what was kept."""
    if child.tag not in _HEADINGS:
        return False
    for follower in islice(children, place + 1, None):
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
