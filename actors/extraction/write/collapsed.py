"""Marks what a page shows only once it is clicked, as accordions, tabs and `<details>` do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice, takewhile
from types import MappingProxyType
from typing import Final

from turbohtml import Element, Node, Text

from actors.extraction.parse.visibility import Hiding
from actors.extraction.write.rendering import Verbatim

_COLLAPSED_MARK = "*(collapsed)*"
_NAMED_MARK = "*(collapsed: {})*"
_NAME_OF_FOLD = re.compile(r"[\w .,+#/&-]{1,40}")
"""What a tab may be called to be named in the mark of its panel: nothing that Markdown reads as more than words."""

_MAX_FOLDS = 10_000
_NO_NAMES: Final[Mapping[Element, str]] = MappingProxyType({})
_PARTS_OF_LISTS = frozenset({"tr", "tbody", "thead", "tfoot", "table", "ul", "ol", "dl"})
_SLANTED = frozenset({"em", "i"})
_INLINE_TAGS = frozenset({"a", "b", "em", "font", "i", "span", "strong", "code", "small", "label"})


def names_of_folds(root: Element, hidden: Mapping[Element, Hiding]) -> Mapping[Element, str]:
    """Return the names of what is collapsed by what it is labelled by, as panels by their tabs; before it is pruned."""
    names = dict[Element, str]()
    for element, why in islice(hidden.items(), _MAX_FOLDS):
        label = element.attr("aria-labelledby") if why is Hiding.COLLAPSED else None
        named = root.find(id=label) if label else None
        if named is not None and _NAME_OF_FOLD.fullmatch(name := " ".join(named.text.split())):
            names[element] = name
    return names


def mark_collapsed(
    body: Element, hidden: Mapping[Element, Hiding], own: Verbatim, names: Mapping[Element, str] = _NO_NAMES
) -> None:
    """Write summaries in bold, and a mark before everything that is collapsed, with the name that it has."""
    for details in body.select("details")[:_MAX_FOLDS]:
        _unfold(details, own)
    for element, why in islice(hidden.items(), _MAX_FOLDS):
        if why is Hiding.COLLAPSED and element.tag not in ("td", "th") and _is_shown_within(element, body):
            _mark(element, own, _NAMED_MARK.format(names[element]) if element in names else _COLLAPSED_MARK)


def _is_shown_within(element: Element, body: Element) -> bool:
    parent = element.parent
    if parent is None or (isinstance(parent, Element) and parent.tag == "details"):
        return False
    return any(ancestor == body for ancestor in element.ancestors) and bool(element.text.strip())


def _unfold(details: Element, own: Verbatim) -> None:
    summary = next((each for each in details.children if isinstance(each, Element) and each.tag == "summary"), None)
    mark: list[Node] = [] if details.attr("open") is not None else [own.element(_COLLAPSED_MARK)]
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


def _mark(element: Element, own: Verbatim, mark: str) -> None:
    if element.tag in _INLINE_TAGS:
        for around in (element, *takewhile(_is_inline, element.ancestors)):
            if isinstance(around, Element) and around.tag in _SLANTED:
                around.tag = "span"  # the mark is slanted itself
        element.insert(0, own.element(f"{mark} "))
    elif element.tag not in _PARTS_OF_LISTS:
        element.insert(0, own.paragraph(mark))
    elif element.tag in ("ul", "ol", "dl", "table"):
        element.insert_before(own.paragraph(mark))
    elif (cell := element.select_one("td,th")) is not None:
        cell.insert(0, own.element(f"{mark} "))


def _is_inline(node: Node) -> bool:
    return isinstance(node, Element) and node.tag in _INLINE_TAGS
