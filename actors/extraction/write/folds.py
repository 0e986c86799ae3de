"""Marks what only a click shows, and writes lists of terms."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from turbohtml import Element, Node, Text

from actors.extraction.parse.visibility import Hiding
from actors.extraction.write.verbatim import Verbatim

MARK = "*(collapsed)*"
_MAX_FOLDS = 10_000
_ROWS = frozenset({"tr", "tbody", "thead", "tfoot", "table", "ul", "ol", "dl"})
_INLINE = frozenset({"a", "b", "em", "font", "i", "span", "strong", "code", "small", "label"})


def mend(body: Element, hidden: Mapping[Element, Hiding], own: Verbatim) -> None:
    """Write summaries in bold, and a mark before everything that is collapsed."""
    for details in body.select("details")[:_MAX_FOLDS]:
        _unfold(details, own)
    for element, why in islice(hidden.items(), _MAX_FOLDS):
        if why is Hiding.COLLAPSED and _stands_in(element, body):
            _mark(element, own)


def _stands_in(element: Element, body: Element) -> bool:
    parent = element.parent
    if parent is None or (isinstance(parent, Element) and parent.tag == "details"):
        return False
    return any(ancestor == body for ancestor in element.ancestors) and bool(element.text.strip())


def _unfold(details: Element, own: Verbatim) -> None:
    summary = next((each for each in details.children if isinstance(each, Element) and each.tag == "summary"), None)
    mark: list[Node] = [] if details.attr("open") is not None else [own.element(MARK)]
    if summary is None:
        if mark:
            details.insert(0, Element("p", None, mark))
        return
    if summary.select_one("h1,h2,h3,h4,h5,h6") is not None:
        summary.tag = "div"
        summary.extend([Element("p", None, mark)] if mark else [])
        return
    for bold in summary.select("b,strong"):
        bold.unwrap()
    summary.wrap_children(Element("strong"))
    summary.tag = "p"
    summary.extend([Text(" "), *mark] if mark else [])


def _mark(element: Element, own: Verbatim) -> None:
    if element.tag in _INLINE:
        element.insert(0, own.element(f"{MARK} "))
    elif element.tag not in _ROWS:
        element.insert(0, own.paragraph(MARK))
    elif element.tag in ("ul", "ol", "dl", "table"):
        element.insert_before(own.paragraph(MARK))
    elif (cell := element.select_one("td,th")) is not None:
        cell.insert(0, own.element(f"{MARK} "))
