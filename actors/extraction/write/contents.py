"""Leaves out tables of contents: a document says its headings itself, and their outline is a field of its own."""

from __future__ import annotations

from turbohtml import Element, Node, Text

_WITHIN = "li a[href^='#']"
_LISTS = ("ul", "ol")
_FEW = 3
"""Links within the page that a list must have to be one of contents."""

_MOSTLY = 0.8
"""Share of the letters of such a list that stand in its links, beside numbers and dots."""

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_MAX_LINKS = 2_000
_MAX_HEADING = 30


def drop(body: Element) -> None:
    """Take lists of links to places of the same page out of a pruned tree, with the heading that is theirs alone."""
    links = body.select(_WITHIN)[:_MAX_LINKS]
    if len(links) < _FEW:
        return
    for outer in dict.fromkeys(found for link in links if (found := _outermost(link)) is not None):
        if _is_contents(outer):
            _drop_heading(outer)
            outer.extract()


def _outermost(link: Element) -> Element | None:
    found = None
    for ancestor in link.ancestors:
        if isinstance(ancestor, Element) and ancestor.tag in _LISTS:
            found = ancestor
    return found


def _is_contents(outer: Element) -> bool:
    links = [link for link in outer.iter_elements("a") if link.text.strip()]
    if len(links) < _FEW or not all((link.attr("href") or "").startswith("#") for link in links):
        return False
    return sum(_letters(link.text) for link in links) >= _MOSTLY * _letters(outer.text)


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _drop_heading(outer: Element) -> None:
    place: Node = outer
    while _next(place.previous_sibling, forward=False) is None and isinstance(place.parent, Element):
        if place.parent.tag == "body":
            return
        place = place.parent
    heading = _next(place.previous_sibling, forward=False)
    if isinstance(heading, Element) and heading.tag in _HEADINGS and len(heading.text) <= _MAX_HEADING:
        follower = _next(place.next_sibling, forward=True)
        if follower is None or (isinstance(follower, Element) and follower.tag in _HEADINGS):
            heading.extract()


def _next(node: Node | None, *, forward: bool) -> Node | None:
    """Return the nearest sibling that is no white space, itself included."""
    while isinstance(node, Text) and node.data.isspace():
        node = node.next_sibling if forward else node.previous_sibling
    return node
