"""Reads the words of an element on one line, as somebody who looks at the page would."""

from __future__ import annotations

import re
from collections.abc import Mapping

from turbohtml import Element, Node, Text

from actors.extraction.parse.styles import shown_as_block
from actors.extraction.parse.text import INLINE, one_line
from actors.extraction.parse.visibility import Hiding

SKIPPED = frozenset(
    {"script", "style", "template", "noscript", "head", "iframe", "object", "textarea", "select", "svg", "canvas"}
    | {"audio", "video", "datalist", "math", "rp", "rt"}
)
"""Elements whose text is no text of the page; formulas are read by their own source, ruby by its base."""

_MAX_NODES = 2_000
"""Nodes that are read for one text: more are a trap, since a text is cut after some thousand characters."""

# What is not seen, but read by a model: controls, soft hyphens, directions, zero widths, tags, variation selectors.
RAISED = str.maketrans("0123456789+-\u2212=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
LOWERED = str.maketrans("0123456789+-\u2212=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
NUMBER = re.compile(r"[+\-\u2212]?[0-9n]{1,4}|[+\-\u2212]")
_NOTE = re.compile(r"\[?(?:\d{1,3}|[a-z]|note \d{1,3}|nb \d{1,3})\]|[*†‡§¶]{1,3}", re.IGNORECASE)


def words(element: Element, hidden: Mapping[Element, Hiding], limit: int) -> str:
    """Read the text of an element on one line of at most `limit` characters.

    What is hidden is left out, the end of a block or line is a space, marks of footnotes are dropped, and raised or
    lowered figures keep their place ("10⁶ m²", not "106 m2").
    """
    children = element.children
    if len(children) == 1 and isinstance(children[0], Text):
        return one_line(children[0].data[: 8 * limit], limit)
    pieces: list[str] = []
    stack: list[Node | str] = [*reversed(children)]
    length = nodes = 0
    while stack and length < 2 * limit and nodes < _MAX_NODES:
        node = stack.pop()
        nodes += 1
        if isinstance(node, Text):
            pieces.append(node.data[: 8 * limit])
            length += len(node.data.strip())
        elif isinstance(node, str):
            pieces.append(node)
        elif isinstance(node, Element) and node.tag not in SKIPPED and hidden.get(node) is not Hiding.INVISIBLE:
            _enter(node, pieces, stack)
    return one_line("".join(pieces), limit)


def _enter(element: Element, pieces: list[str], stack: list[Node | str]) -> None:
    tag = element.tag
    if tag in ("sup", "sub"):
        pieces.append(_shifted(element))
    elif tag in INLINE and not ((style := element.attr("style")) and shown_as_block(style)):
        stack.extend(reversed(element.children))
    else:
        pieces.append(" ")
        stack.append(" ")
        stack.extend(reversed(element.children))


def _shifted(element: Element) -> str:
    text = element.text[:200].strip()
    if element.tag == "sub":
        return text.translate(LOWERED) if NUMBER.fullmatch(text) else text
    if _NOTE.fullmatch(text) or element.select_one("a[href^='#']") is not None:
        return ""
    return text.translate(RAISED) if NUMBER.fullmatch(text) else text
