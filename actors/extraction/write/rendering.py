"""Renders a mended tree as Markdown that stays text: nothing that a page writes becomes markup or HTML."""

from __future__ import annotations

import re
from collections.abc import Callable

from turbohtml import Element, Markdown, Node, Text

from actors.extraction.write.verbatim import NOTE, TAG, Verbatim

_GAPS = re.compile(r"\n{3,}")
_TICKS = re.compile(r"`+")
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_EMPHASES = {"em": "*", "i": "*", "strong": "**", "b": "**", "del": "~~", "s": "~~", "strike": "~~"}

_BLOCKS = "p,div,pre,ul,ol,dl,table,blockquote,hr,h1,h2,h3,h4,h5,h6"
_CONTAINERS = "pre,ul,ol,dl,table,blockquote,h1,h2,h3,h4,h5,h6"
_LINES = frozenset({*_BLOCKS.split(","), "li", "td", "th", "dt", "dd", "body", "figcaption", "figure", "section"})
_SPELT = ("code", "kbd", "samp", "tt")

_AROUND_BLOCKS = ",".join(f"{tag}:has({_BLOCKS})" for tag in _EMPHASES)

Converter = Callable[[Element, str], str]


def render(root: Element, own: Verbatim) -> str:
    """Write a tree as GitHub-flavoured Markdown."""
    converters: dict[str, Converter] = {
        TAG: own.write,
        NOTE: own.write_note,
        **dict.fromkeys(_SPELT, _code),
        "dl": _terms,
        "dd": _meaning,
        **dict.fromkeys(_EMPHASES, _emphasis),
    }
    for outer in root.select(_AROUND_BLOCKS):
        outer.unwrap()
    options = Markdown(
        links=Markdown.Links(autolink=False),
        tables=Markdown.Tables(header="detect", cell_blocks="text"),
        converters=converters,
    )
    return _GAPS.sub("\n\n", root.to_markdown(options)).strip()


def _emphasis(element: Element, inner: str) -> str:
    """Set marks around text where they will be read as such; turbohtml writes HTML where they would not."""
    text = inner.strip()
    mark = _EMPHASES[element.tag]
    if not text or _is_marked(element, mark) or not _stands_apart(element, text):
        return inner
    before = inner[: len(inner) - len(inner.lstrip())]
    return f"{before}{mark}{text}{mark}{inner[len(inner.rstrip()) :]}"


def _is_marked(element: Element, mark: str) -> bool:
    parent = element.parent
    while isinstance(parent, Element) and parent.tag not in _HEADINGS:
        if _EMPHASES.get(parent.tag) == mark:
            return True
        if parent.tag in ("p", "div", "li", "td"):
            return False
        parent = parent.parent
    return isinstance(parent, Element) and mark == "**"


def _stands_apart(element: Element, text: str) -> bool:
    """Return whether marks open and close here, as CommonMark's rules of flanking have it."""
    opens = text[0].isalnum() or not _end(element.previous_sibling, -1).isalnum()
    closes = text[-1].isalnum() or not _end(element.next_sibling, 0).isalnum()
    before = element.previous_sibling
    return opens and closes and not (isinstance(before, Element) and before.tag in _EMPHASES)


def _end(node: Node | None, place: int) -> str:
    text = node.data if isinstance(node, Text) else node.text if node is not None else ""
    return text[place] if text else " "


def _code(element: Element, _: str) -> str:
    """Fence code in more backticks than it holds, apart from code just before it."""
    text = " ".join(element.text.split())
    if not text:
        return ""
    fence = "`" * (max(map(len, _TICKS.findall(text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{' ' * _follows_code(element)}{fence}{pad}{text}{pad}{fence}"


def _follows_code(element: Element) -> bool:
    node: Node = element
    while node.previous_sibling is None and isinstance(node.parent, Element) and node.parent.tag not in _LINES:
        node = node.parent
    before = node.previous_sibling
    while isinstance(before, Element):
        if before.tag in _SPELT:
            return True
        before = before.children[-1] if before.children else before.previous_sibling
    return False


def _terms(_: Element, inner: str) -> str:
    return inner.replace("\n\n: ", "\n: ")


def _meaning(element: Element, inner: str) -> str:
    if element.select_one(_CONTAINERS) is not None:
        return inner  # what does not know lists of terms would take the code in one for text
    return ": " + inner.strip().replace("\n", "\n  ")
