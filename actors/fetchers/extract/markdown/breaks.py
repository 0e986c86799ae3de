"""Makes paragraphs of text that is parted by empty lines."""

from __future__ import annotations

from turbohtml import Element, Node, Text

_BLOCKS = frozenset(
    {"address", "article", "blockquote", "div", "dl", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6"}
    | {"header", "hr", "li", "ol", "p", "pre", "section", "table", "ul"}
)


def mend(body: Element) -> None:
    """Turn two or more line breaks in a row into the end of a paragraph; drop those that end a block anyway."""
    done = set[Element]()
    for first in body.select("br"):
        if first in done:
            continue
        follower, run = _run(first)
        done.update(run)
        if len(run) > 1:
            first.replace_with(Element("div"))
            for other in run[1:]:
                other.extract()
        elif follower is None or (isinstance(follower, Element) and follower.tag in _BLOCKS):
            first.extract()


def _run(first: Element) -> tuple[Node | None, list[Element]]:
    """Give the breaks that follow one directly, itself included, and what comes after them."""
    run = [first]
    node = first.next_sibling
    while node is not None:
        if isinstance(node, Element) and node.tag == "br":
            run.append(node)
        elif not isinstance(node, Text) or not node.data.isspace():
            break
        node = node.next_sibling
    return node, run
