"""Makes paragraphs of text that is parted by empty lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from turbohtml import Element, Node, Text

_BLOCKS = frozenset(
    {"address", "article", "blockquote", "div", "dl", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6"}
    | {"header", "hr", "li", "ol", "p", "pre", "section", "table", "ul"}
)
_RULER = re.compile(r"\s*[|:][\s|:-]*(?:\n|$)")
"""A line that would make a table of what stands above and below it."""

_ON_ONE_LINE = "a,code,h1,h2,h3,h4,h5,h6,td,th,caption"
_INLINE = frozenset({"b", "cite", "del", "em", "font", "i", "ins", "q", "s", "small", "span", "strike", "strong", "u"})


def mend(body: Element) -> None:
    """Turn two or more line breaks in a row into the end of a paragraph; drop those at either end of a block."""
    for inner in reversed(body.select("br")):
        _lift(inner)
    done = set[Element]()
    for first in body.select("br"):
        if first in done:
            continue
        follower, run = _run(first)
        done.update(run)
        if len(run) > 1 or (isinstance(follower, Text) and _RULER.match(follower.data)):
            first.replace_with(Element("div"))
            for other in run[1:]:
                other.extract()
        elif _is_end(follower) or _is_end(_before(first)):
            first.extract()


def _lift(inner: Element) -> None:
    """Take a break out of emphasis, which ends before it and begins again after it; elsewhere in a line, a space."""
    if inner.closest(_ON_ONE_LINE) is not None:
        inner.replace_with(Text(" "))
        return
    parent = inner.parent
    while isinstance(parent, Element) and parent.tag in _INLINE:
        begins = _before(inner) is None
        rest = list(inner.next_siblings)
        if not _is_blank(rest):
            parent.insert_after(Element(parent.tag, None, rest))
        parent.insert_after(inner)
        if begins:
            parent.extract()
        parent = inner.parent


def _run(first: Element) -> tuple[Node | None, list[Element]]:
    """Return the breaks that follow one directly, itself included, and what comes after them."""
    run = [first]
    node = first.next_sibling
    while node is not None:
        if isinstance(node, Element) and node.tag == "br":
            run.append(node)
        elif not _is_blank([node]):
            break
        node = node.next_sibling
    return node, run


def _before(node: Element) -> Node | None:
    before = node.previous_sibling
    while before is not None and _is_blank([before]):
        before = before.previous_sibling
    return before


def _is_end(neighbour: Node | None) -> bool:
    return neighbour is None or (isinstance(neighbour, Element) and neighbour.tag in _BLOCKS)


def _is_blank(nodes: Sequence[Node]) -> bool:
    return all(isinstance(node, Text) and node.data.isspace() for node in nodes)
